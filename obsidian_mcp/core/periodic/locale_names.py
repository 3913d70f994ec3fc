"""Names of months and days in other languages, from Unicode CLDR.

For German, Spanish, Italian, Dutch, Portuguese, Swedish and Chinese the abbreviations are those of moment, which the
app uses.
"""

from __future__ import annotations

NAMES: dict[str, tuple[str, ...]] = {
    "de": (
        "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
        "Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sep.|Okt.|Nov.|Dez.",
        "Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag",
        "So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.",
        "So|Mo|Di|Mi|Do|Fr|Sa",
    ),
    "fr": (
        "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
        "janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.",
        "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi",
        "dim.|lun.|mar.|mer.|jeu.|ven.|sam.",
        "di|lu|ma|me|je|ve|sa",
    ),
    "es": (
        "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
        "ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sep.|oct.|nov.|dic.",
        "domingo|lunes|martes|miércoles|jueves|viernes|sábado",
        "dom.|lun.|mar.|mié.|jue.|vie.|sáb.",
        "do|lu|ma|mi|ju|vi|sá",
    ),
    "it": (
        "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
        "gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic",
        "domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato",
        "dom|lun|mar|mer|gio|ven|sab",
        "do|lu|ma|me|gi|ve|sa",
    ),
    "nl": (
        "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
        "jan.|feb.|mrt.|apr.|mei|jun.|jul.|aug.|sep.|okt.|nov.|dec.",
        "zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag",
        "zo.|ma.|di.|wo.|do.|vr.|za.",
        "zo|ma|di|wo|do|vr|za",
    ),
    "pl": (
        "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia",
        "sty|lut|mar|kwi|maj|cze|lip|sie|wrz|paź|lis|gru",
        "niedziela|poniedziałek|wtorek|środa|czwartek|piątek|sobota",
        "niedz.|pon.|wt.|śr.|czw.|pt.|sob.",
        "nie|pon|wto|śro|czw|pią|sob",
        "styczeń|luty|marzec|kwiecień|maj|czerwiec|lipiec|sierpień|wrzesień|październik|listopad|grudzień",
    ),
    "pt": (
        "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
        "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
        "domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado",
        "dom|seg|ter|qua|qui|sex|sáb",
        "dom|seg|ter|qua|qui|sex|sáb",
    ),
    "ru": (
        "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
        "янв.|февр.|мар.|апр.|мая|июн.|июл.|авг.|сент.|окт.|нояб.|дек.",
        "воскресенье|понедельник|вторник|среда|четверг|пятница|суббота",
        "вс|пн|вт|ср|чт|пт|сб",
        "вс|пн|вт|ср|чт|пт|сб",
        "январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь",
    ),
    "sv": (
        "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december",
        "jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec",
        "söndag|måndag|tisdag|onsdag|torsdag|fredag|lördag",
        "sön|mån|tis|ons|tors|fre|lör",
        "sö|må|ti|on|to|fr|lö",
    ),
    "da": (
        "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december",
        "jan.|feb.|mar.|apr.|maj|jun.|jul.|aug.|sep.|okt.|nov.|dec.",
        "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
        "søn.|man.|tirs.|ons.|tors.|fre.|lør.",
        "sø|ma|ti|on|to|fr|lø",
    ),
    "nb": (
        "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
        "jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.",
        "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
        "søn.|man.|tir.|ons.|tor.|fre.|lør.",
        "sø|ma|ti|on|to|fr|lø",
    ),
    "nn": (
        "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
        "jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.",
        "søndag|måndag|tysdag|onsdag|torsdag|fredag|laurdag",
        "sø.|må.|ty.|on.|to.|fr.|la.",
        "sø|må|ty|on|to|fr|la",
    ),
    "fi": (
        (
            "tammikuuta|helmikuuta|maaliskuuta|huhtikuuta|toukokuuta|kesäkuuta|heinäkuuta|elokuuta|syyskuuta|"
            "lokakuuta|marraskuuta|joulukuuta"
        ),
        "tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu",
        "sunnuntai|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai",
        "su|ma|ti|ke|to|pe|la",
        "su|ma|ti|ke|to|pe|la",
        "tammikuu|helmikuu|maaliskuu|huhtikuu|toukokuu|kesäkuu|heinäkuu|elokuu|syyskuu|lokakuu|marraskuu|joulukuu",
    ),
    "cs": (
        "ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|prosince",
        "led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|lis|pro",
        "neděle|pondělí|úterý|středa|čtvrtek|pátek|sobota",
        "ne|po|út|st|čt|pá|so",
        "ne|po|út|st|čt|pá|so",
        "leden|únor|březen|duben|květen|červen|červenec|srpen|září|říjen|listopad|prosinec",
    ),
    "hu": (
        "január|február|március|április|május|június|július|augusztus|szeptember|október|november|december",
        "jan.|febr.|márc.|ápr.|máj.|jún.|júl.|aug.|szept.|okt.|nov.|dec.",
        "vasárnap|hétfő|kedd|szerda|csütörtök|péntek|szombat",
        "V|H|K|Sze|Cs|P|Szo",
        "V|H|K|Sze|Cs|P|Szo",
    ),
    "zh-cn": (
        "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
        "周日|周一|周二|周三|周四|周五|周六",
        "日|一|二|三|四|五|六",
    ),
    "zh-tw": (
        "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
        "週日|週一|週二|週三|週四|週五|週六",
        "日|一|二|三|四|五|六",
    ),
    "vi": (
        "tháng 1|tháng 2|tháng 3|tháng 4|tháng 5|tháng 6|tháng 7|tháng 8|tháng 9|tháng 10|tháng 11|tháng 12",
        "thg 1|thg 2|thg 3|thg 4|thg 5|thg 6|thg 7|thg 8|thg 9|thg 10|thg 11|thg 12",
        "Chủ Nhật|Thứ Hai|Thứ Ba|Thứ Tư|Thứ Năm|Thứ Sáu|Thứ Bảy",
        "CN|Th 2|Th 3|Th 4|Th 5|Th 6|Th 7",
        "CN|T2|T3|T4|T5|T6|T7",
    ),
    "ca": (
        (
            "de gener|de febrer|de març|d’abril|de maig|de juny|de juliol|d’agost|de setembre|d’octubre|"
            "de novembre|de desembre"
        ),
        "de gen.|de febr.|de març|d’abr.|de maig|de juny|de jul.|d’ag.|de set.|d’oct.|de nov.|de des.",
        "diumenge|dilluns|dimarts|dimecres|dijous|divendres|dissabte",
        "dg.|dl.|dt.|dc.|dj.|dv.|ds.",
        "dg|dl|dt|dc|dj|dv|ds",
        "gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre",
    ),
    "el": (
        (
            "Ιανουαρίου|Φεβρουαρίου|Μαρτίου|Απριλίου|Μαΐου|Ιουνίου|Ιουλίου|Αυγούστου|Σεπτεμβρίου|Οκτωβρίου|"
            "Νοεμβρίου|Δεκεμβρίου"
        ),
        "Ιαν|Φεβ|Μαρ|Απρ|Μαΐ|Ιουν|Ιουλ|Αυγ|Σεπ|Οκτ|Νοε|Δεκ",
        "Κυριακή|Δευτέρα|Τρίτη|Τετάρτη|Πέμπτη|Παρασκευή|Σάββατο",
        "Κυρ|Δευ|Τρί|Τετ|Πέμ|Παρ|Σάβ",
        "Κυ|Δε|Τρ|Τε|Πέ|Πα|Σά",
        (
            "Ιανουάριος|Φεβρουάριος|Μάρτιος|Απρίλιος|Μάιος|Ιούνιος|Ιούλιος|Αύγουστος|Σεπτέμβριος|Οκτώβριος|"
            "Νοέμβριος|Δεκέμβριος"
        ),
    ),
    "sk": (
        "januára|februára|marca|apríla|mája|júna|júla|augusta|septembra|októbra|novembra|decembra",
        "jan|feb|mar|apr|máj|jún|júl|aug|sep|okt|nov|dec",
        "nedeľa|pondelok|utorok|streda|štvrtok|piatok|sobota",
        "ne|po|ut|st|št|pi|so",
        "ne|po|ut|st|št|pi|so",
        "január|február|marec|apríl|máj|jún|júl|august|september|október|november|december",
    ),
    "ja": (
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "日曜日|月曜日|火曜日|水曜日|木曜日|金曜日|土曜日",
        "日|月|火|水|木|金|土",
        "日|月|火|水|木|金|土",
    ),
    "ko": (
        "1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월",
        "1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월",
        "일요일|월요일|화요일|수요일|목요일|금요일|토요일",
        "일|월|화|수|목|금|토",
        "일|월|화|수|목|금|토",
    ),
    "he": (
        "ינואר|פברואר|מרץ|אפריל|מאי|יוני|יולי|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר",
        "ינו׳|פבר׳|מרץ|אפר׳|מאי|יוני|יולי|אוג׳|ספט׳|אוק׳|נוב׳|דצמ׳",
        "יום ראשון|יום שני|יום שלישי|יום רביעי|יום חמישי|יום שישי|יום שבת",
        "יום א׳|יום ב׳|יום ג׳|יום ד׳|יום ה׳|יום ו׳|שבת",
        "א׳|ב׳|ג׳|ד׳|ה׳|ו׳|ש׳",
    ),
    "hi": (
        "जनवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर",
        "जन॰|फ़र॰|मार्च|अप्रैल|मई|जून|जुल॰|अग॰|सित॰|अक्टू॰|नव॰|दिस॰",
        "रविवार|सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार",
        "रवि|सोम|मंगल|बुध|गुरु|शुक्र|शनि",
        "र|सो|मं|बु|गु|शु|श",
    ),
    "id": (
        "Januari|Februari|Maret|April|Mei|Juni|Juli|Agustus|September|Oktober|November|Desember",
        "Jan|Feb|Mar|Apr|Mei|Jun|Jul|Agu|Sep|Okt|Nov|Des",
        "Minggu|Senin|Selasa|Rabu|Kamis|Jumat|Sabtu",
        "Min|Sen|Sel|Rab|Kam|Jum|Sab",
        "Min|Sen|Sel|Rab|Kam|Jum|Sab",
    ),
    "th": (
        "มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม",
        "ม.ค.|ก.พ.|มี.ค.|เม.ย.|พ.ค.|มิ.ย.|ก.ค.|ส.ค.|ก.ย.|ต.ค.|พ.ย.|ธ.ค.",
        "วันอาทิตย์|วันจันทร์|วันอังคาร|วันพุธ|วันพฤหัสบดี|วันศุกร์|วันเสาร์",
        "อา.|จ.|อ.|พ.|พฤ.|ศ.|ส.",
        "อา|จ|อ|พ|พฤ|ศ|ส",
    ),
    "tr": (
        "Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık",
        "Oca|Şub|Mar|Nis|May|Haz|Tem|Ağu|Eyl|Eki|Kas|Ara",
        "Pazar|Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi",
        "Paz|Pzt|Sal|Çar|Per|Cum|Cmt",
        "Pa|Pt|Sa|Ça|Pe|Cu|Ct",
    ),
    "uk": (
        "січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня",
        "січ.|лют.|бер.|квіт.|трав.|черв.|лип.|серп.|вер.|жовт.|лист.|груд.",
        "неділя|понеділок|вівторок|середа|четвер|пʼятниця|субота",
        "нд|пн|вт|ср|чт|пт|сб",
        "нд|пн|вт|ср|чт|пт|сб",
        "січень|лютий|березень|квітень|травень|червень|липень|серпень|вересень|жовтень|листопад|грудень",
    ),
    "ro": (
        "ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie",
        "ian.|feb.|mar.|apr.|mai|iun.|iul.|aug.|sept.|oct.|nov.|dec.",
        "duminică|luni|marți|miercuri|joi|vineri|sâmbătă",
        "dum.|lun.|mar.|mie.|joi|vin.|sâm.",
        "du|lu|ma|mi|joi|vi|sâ",
    ),
    "ar": (
        "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر",
        "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر",
        "الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت",
        "الأحد|الاثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت",
        "أحد|إثنين|ثلاثاء|أربعاء|خميس|جمعة|سبت",
    ),
    "fa": (
        "ژانویهٔ|فوریهٔ|مارس|آوریل|مهٔ|ژوئن|ژوئیهٔ|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
        "ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
        "یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه",
        "یکشنبه|دوشنبه|سه‌شنبه|چهارشنبه|پنجشنبه|جمعه|شنبه",
        "۱ش|۲ش|۳ش|۴ش|۵ش|ج|ش",
        "ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
    ),
}
"""Locale -> months, months in short, weekdays from Sunday, in short, in two letters; then, in languages that decline
them, the months on their own. Names are separated by `|`."""
