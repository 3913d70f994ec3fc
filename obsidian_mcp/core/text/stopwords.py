"""Stop words of questions (specs/search.md, SEARCH-56)."""

from __future__ import annotations

_STOP_WORDS = {
    "english": (
        "a an and any are as at be been being but by can could did do does doing for from had has have he her"
        " here his how i if in into is it its just me might must my myself of on or our ours shall she should so"
        " some than that the their them then there these they this those to us was we were what when where whether"
        " which who whom whose why will with would you your"
    ),
    "german": (
        "aber alle als also am an auch auf aus bei bin bis bist da damit dann das dass dein deine dem den denn"
        " der des die dies diese diesem diesen dieser dieses doch du durch ein eine einem einen einer eines er es"
        " für gibt hab habe haben hat hatte hier ich ihr im in ins ist ja kann kein keine können man mein meine"
        " meinem meinen meiner mich mir mit muss musst müssen nach nicht noch nur ob oder ohne schon sein sich sie"
        " sind so soll sollte über um und uns unser unsere vom von vor wann war waren warum was welche welchem"
        " welchen welcher welches wenn wer werden wie wir wird wo wofür woher wohin wurde zu zum zur"
    ),
    "french": (
        "à ai au aux avec avoir c ce ces cet cette comment d dans de des dois doit donc du elle en es est et été"
        " être fait faut il ils j je l la le les leur leurs ma mais me mes moi mon n ne nos notre nous on ont ou"
        " où par pas peut peux plus pour pourquoi puis qu quand que quel quelle quelles quels qui quoi s sa sans"
        " se ses si son sont sur ta te tes toi ton tu un une vos votre vous y"
    ),
    "spanish": (
        "al algo como cómo con cual cuál cuales cuando cuándo de debo del desde donde dónde el él ella en entre"
        " era es esa ese eso esta está este esto fue ha hay he la las le lo los más me mi mis muy nada necesito no"
        " nos o para pero por porque puedo que qué quien quién se ser si sin sobre son su sus también te tengo"
        " tiene tu un una unas uno unos y ya yo"
    ),
    "italian": (
        "ad agli ai al alla alle che chi ci come con cosa cui da dal dalla degli dei del della delle di dove è ed"
        " era fa gli ha ho i il in io ho la le lo ma mi mia mio ne nei nel nella non o per perché più quale quali"
        " quando quanto quello questa questo se si sono su sul sulla tra un una uno"
    ),
    "portuguese": (
        "às com da das do dos e eu foi isso isto meu minha na não nas no nos num numa o onde os ou para pela pelo"
        " por quais qual são sem seu sua também tem um uma"
    ),
    "dutch": (
        "aan dat de deze dit een en er heb hebben het hij hoe ik ben je kan maar met mijn naar niet om ook op te"
        " van voor waar waarom wanneer wat welke wie worden zij zijn"
    ),
    "russian": (
        "в во где для до его если же за и из или к как какая какие какой ко когда который кто ли меня мне можно"
        " мой моя на над надо не него нее нет но ну о об он она они от по под почему при про с со так там то тоже"
        " у уже что чтобы это я"
    ),
}
STOP_WORDS = {language: frozenset(words.split()) for language, words in _STOP_WORDS.items()}
"""Words of a language that are not searched for unless the query contains no other words."""
_ASKING = (
    "about again all already also always another anybody anyone anything because before being both concerning detail"
    " details during each every everybody everyone everything exactly explain find finding get give go happen happened"
    " happens info information instead know let list look looking made make many mean means mention mentioned mentions"
    " more most much need needed never nobody note notes nothing once one only other own please really recall regarding"
    " related remember remind said say says search several show since somebody someone something still take tell think"
    " thought too use used very want wanted way while without write wrote written"
    " ago last latest month months next recent recently today week weeks yesterday year years"
    " bitte brauche brauchen erklär erkläre etwas finde finden machen mach nochmal notiz notizen sag sage such suche"
    " suchen thema tun weiß zeig zeige zeigen"
    " cherche cherché chercher concernant dire donne informations montre noter propos savoir sujet trouve trouver"
    " busca buscar dime encontrar encuentra hacer información muestra nota notas saber"
    " appunti appunto cerca cercare dimmi fare mostra trova trovare"
    " заметка заметки заметку найди найти нужно покажи расскажи"
)
ASKING = frozenset(_ASKING.split())
"""Optional words: notes that contain them are ranked first."""

_ASKING_UNSPACED = (
    "について 教えてください 教えて ください 方法 やり方 作り方 どうすれば"
    " 怎么样 怎么办 怎么 怎样 如何 什么时候 什么 为什么 哪里 哪儿 多少 是否 可以 需要 请问 关于 我们 有没有"
    " 怎麼辦 怎麼 怎樣 什麼時候 什麼 為什麼 哪裡 請問 關於 我們 有沒有"
    " 방법 어떻게 무엇 언제 어디 알려줘 대한"
)
ASKING_UNSPACED = tuple(_ASKING_UNSPACED.split())
"""Words of scripts without spaces between words; a longer word precedes the words it contains."""

_PARTICLES = (
    "ですか ますか でしょうか ました ません です ます でした する した して しない すれば いい という から まで"
    " より には では とは かも って どこ いつ なに なぜ だれ どう の を は が に で と も へ や か な ね よ"
)
PARTICLES = tuple(_PARTICLES.split())
"""Hiragana that stands between words of Japanese, and at their ends."""

_JOSA = (
    "에서는 으로는 에게서 에서 으로 에게 한테 까지 부터 처럼 보다 이나 라고 하는 하기 하고 했던 해야 하다 한다"
    " 입니다 을 를 이 가 은 는 에 의 로 와 과 도 만"
)
JOSA = tuple(_JOSA.split())
"""Korean word endings; a longer ending precedes the endings it contains."""

SPLITTING = "的了吗呢吧嗎么麼我你您"
"""Chinese letters at which a long run of letters falls into words."""
