"""Names, formats and other forms of languages, as moment 2.30 writes them (PERIODIC-2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Forms:
    """Lists are separated by `|`; weekdays begin with Sunday."""

    months: str
    """As they are written behind a day, where a language declines them."""
    months_short: str
    weekdays: str
    weekdays_short: str
    weekdays_min: str
    dates: str
    """What `LT`, `L`, `LL`, `LLL` and `LLLL` stand for."""
    months_alone: str = ""
    """As they are written without a day before them; empty: the same."""
    months_short_alone: str = ""
    other_dates: Mapping[str, str] = field(default_factory=dict)
    """What `LTS`, `l`, `ll`, `lll` and `llll` stand for, where that does not follow from the others."""
    ordinal: str = ""
    """Ending of every counted number, or of days of the month, other days, months and weeks."""
    halves: str = "1200 AM|2400 PM"
    """Parts of the day, each with its end (hours and minutes as one number); behind `/` in lower case."""
    digits: str = ""
    """The ten digits, and the comma where it differs."""
    declines: str = r"D[oD]?(?:\[[^\[\]]*\]|\s)+MMMM?"
    """A format in which the months are written as behind a day."""
    cases: tuple[tuple[str, str], ...] = ()
    """Formats in which the weekdays are written otherwise, and how."""


_ENGLISH = (
    "January|February|March|April|May|June|July|August|September|October|November|December",
    "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec",
    "Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday",
    "Sun|Mon|Tue|Wed|Thu|Fri|Sat",
    "Su|Mo|Tu|We|Th|Fr|Sa",
)
_AMERICAN = "MMMM D, YYYY|MMMM D, YYYY h:mm A|dddd, MMMM D, YYYY h:mm A"
_BRITISH = "D MMMM YYYY|D MMMM YYYY {0}|dddd, D MMMM YYYY {0}"

FORMS: dict[str, Forms] = {
    "en": Forms(*_ENGLISH, f"h:mm A|MM/DD/YYYY|{_AMERICAN}"),
    "en-ca": Forms(*_ENGLISH, f"h:mm A|YYYY-MM-DD|{_AMERICAN}"),
    "en-gb": Forms(*_ENGLISH, "HH:mm|DD/MM/YYYY|" + _BRITISH.format("HH:mm")),
    "en-au": Forms(*_ENGLISH, "h:mm A|DD/MM/YYYY|" + _BRITISH.format("h:mm A")),
    "pt-br": Forms(
        "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
        "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
        "domingo|segunda-feira|terça-feira|quarta-feira|quinta-feira|sexta-feira|sábado",
        "dom|seg|ter|qua|qui|sex|sáb",
        "do|2ª|3ª|4ª|5ª|6ª|sá",
        (
            "HH:mm|DD/MM/YYYY|"
            "D [de] MMMM [de] YYYY|D [de] MMMM [de] YYYY [às] HH:mm|dddd, D [de] MMMM [de] YYYY [às] HH:mm"
        ),
        ordinal="º",
    ),
    "ja": Forms(
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "日曜日|月曜日|火曜日|水曜日|木曜日|金曜日|土曜日",
        "日|月|火|水|木|金|土",
        "日|月|火|水|木|金|土",
        "HH:mm|YYYY/MM/DD|YYYY年M月D日|YYYY年M月D日 HH:mm|YYYY年M月D日 dddd HH:mm",
        other_dates={"l": "YYYY/MM/DD", "llll": "YYYY年M月D日(ddd) HH:mm"},
        ordinal="日|日||",
        halves="1200 午前|2400 午後",
    ),
    "ko": Forms(
        "1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월",
        "1월|2월|3월|4월|5월|6월|7월|8월|9월|10월|11월|12월",
        "일요일|월요일|화요일|수요일|목요일|금요일|토요일",
        "일|월|화|수|목|금|토",
        "일|월|화|수|목|금|토",
        "A h:mm|YYYY.MM.DD.|YYYY년 MMMM D일|YYYY년 MMMM D일 A h:mm|YYYY년 MMMM D일 dddd A h:mm",
        other_dates={
            "l": "YYYY.MM.DD.",
            "ll": "YYYY년 MMMM D일",
            "lll": "YYYY년 MMMM D일 A h:mm",
            "llll": "YYYY년 MMMM D일 dddd A h:mm",
        },
        ordinal="일|일|월|주",
        halves="1200 오전|2400 오후",
    ),
    "zh-tw": Forms(
        "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
        "週日|週一|週二|週三|週四|週五|週六",
        "日|一|二|三|四|五|六",
        "HH:mm|YYYY/MM/DD|YYYY年M月D日|YYYY年M月D日 HH:mm|YYYY年M月D日dddd HH:mm",
        other_dates={"llll": "YYYY年M月D日dddd HH:mm"},
        ordinal="日|日|月|週",
        halves="600 凌晨|900 早上|1130 上午|1230 中午|1800 下午|2400 晚上",
    ),
    "he": Forms(
        "ינואר|פברואר|מרץ|אפריל|מאי|יוני|יולי|אוגוסט|ספטמבר|אוקטובר|נובמבר|דצמבר",
        "ינו׳|פבר׳|מרץ|אפר׳|מאי|יוני|יולי|אוג׳|ספט׳|אוק׳|נוב׳|דצמ׳",
        "ראשון|שני|שלישי|רביעי|חמישי|שישי|שבת",
        "א׳|ב׳|ג׳|ד׳|ה׳|ו׳|ש׳",
        "א|ב|ג|ד|ה|ו|ש",
        "HH:mm|DD/MM/YYYY|D [ב]MMMM YYYY|D [ב]MMMM YYYY HH:mm|dddd, D [ב]MMMM YYYY HH:mm",
        other_dates={"ll": "D MMM YYYY", "lll": "D MMM YYYY HH:mm", "llll": "ddd, D MMM YYYY HH:mm"},
        halves='500 לפנות בוקר|1000 בבוקר|1200 לפני הצהריים/לפנה"צ|1800 אחרי הצהריים/אחה"צ|2400 בערב',
    ),
    "hi": Forms(
        "जनवरी|फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितम्बर|अक्टूबर|नवम्बर|दिसम्बर",
        "जन.|फ़र.|मार्च|अप्रै.|मई|जून|जुल.|अग.|सित.|अक्टू.|नव.|दिस.",
        "रविवार|सोमवार|मंगलवार|बुधवार|गुरूवार|शुक्रवार|शनिवार",
        "रवि|सोम|मंगल|बुध|गुरू|शुक्र|शनि",
        "र|सो|मं|बु|गु|शु|श",
        "A h:mm बजे|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY, A h:mm बजे|dddd, D MMMM YYYY, A h:mm बजे",
        months_alone="जनवरी|फरवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर|अक्टूबर|नवंबर|दिसंबर",
        halves="400 रात|1000 सुबह|1700 दोपहर|2000 शाम|2400 रात",
        digits="०१२३४५६७८९",
    ),
    "id": Forms(
        "Januari|Februari|Maret|April|Mei|Juni|Juli|Agustus|September|Oktober|November|Desember",
        "Jan|Feb|Mar|Apr|Mei|Jun|Jul|Agt|Sep|Okt|Nov|Des",
        "Minggu|Senin|Selasa|Rabu|Kamis|Jumat|Sabtu",
        "Min|Sen|Sel|Rab|Kam|Jum|Sab",
        "Mg|Sn|Sl|Rb|Km|Jm|Sb",
        "HH.mm|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY [pukul] HH.mm|dddd, D MMMM YYYY [pukul] HH.mm",
        other_dates={"LTS": "HH.mm.ss"},
        halves="1100 pagi|1500 siang|1900 sore|2400 malam",
    ),
    "th": Forms(
        "มกราคม|กุมภาพันธ์|มีนาคม|เมษายน|พฤษภาคม|มิถุนายน|กรกฎาคม|สิงหาคม|กันยายน|ตุลาคม|พฤศจิกายน|ธันวาคม",
        "ม.ค.|ก.พ.|มี.ค.|เม.ย.|พ.ค.|มิ.ย.|ก.ค.|ส.ค.|ก.ย.|ต.ค.|พ.ย.|ธ.ค.",
        "อาทิตย์|จันทร์|อังคาร|พุธ|พฤหัสบดี|ศุกร์|เสาร์",
        "อาทิตย์|จันทร์|อังคาร|พุธ|พฤหัส|ศุกร์|เสาร์",
        "อา.|จ.|อ.|พ.|พฤ.|ศ.|ส.",
        "H:mm|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY เวลา H:mm|วันddddที่ D MMMM YYYY เวลา H:mm",
        halves="1200 ก่อนเที่ยง|2400 หลังเที่ยง",
    ),
    "de": Forms(
        "Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember",
        "Jan.|Feb.|März|Apr.|Mai|Juni|Juli|Aug.|Sep.|Okt.|Nov.|Dez.",
        "Sonntag|Montag|Dienstag|Mittwoch|Donnerstag|Freitag|Samstag",
        "So.|Mo.|Di.|Mi.|Do.|Fr.|Sa.",
        "So|Mo|Di|Mi|Do|Fr|Sa",
        "HH:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY HH:mm|dddd, D. MMMM YYYY HH:mm",
        ordinal=".",
    ),
    "fr": Forms(
        "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
        "janv.|févr.|mars|avr.|mai|juin|juil.|août|sept.|oct.|nov.|déc.",
        "dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi",
        "dim.|lun.|mar.|mer.|jeu.|ven.|sam.",
        "di|lu|ma|me|je|ve|sa",
        "HH:mm|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd D MMMM YYYY HH:mm",
    ),
    "es": Forms(
        "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
        "ene.|feb.|mar.|abr.|may.|jun.|jul.|ago.|sep.|oct.|nov.|dic.",
        "domingo|lunes|martes|miércoles|jueves|viernes|sábado",
        "dom.|lun.|mar.|mié.|jue.|vie.|sáb.",
        "do|lu|ma|mi|ju|vi|sá",
        "H:mm|DD/MM/YYYY|D [de] MMMM [de] YYYY|D [de] MMMM [de] YYYY H:mm|dddd, D [de] MMMM [de] YYYY H:mm",
        ordinal="º",
    ),
    "it": Forms(
        "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
        "gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic",
        "domenica|lunedì|martedì|mercoledì|giovedì|venerdì|sabato",
        "dom|lun|mar|mer|gio|ven|sab",
        "do|lu|ma|me|gi|ve|sa",
        "HH:mm|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd D MMMM YYYY HH:mm",
        ordinal="º",
    ),
    "nl": Forms(
        "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
        "jan.|feb.|mrt.|apr.|mei|jun.|jul.|aug.|sep.|okt.|nov.|dec.",
        "zondag|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag",
        "zo.|ma.|di.|wo.|do.|vr.|za.",
        "zo|ma|di|wo|do|vr|za",
        "HH:mm|DD-MM-YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd D MMMM YYYY HH:mm",
    ),
    "pl": Forms(
        "stycznia|lutego|marca|kwietnia|maja|czerwca|lipca|sierpnia|września|października|listopada|grudnia",
        "sty|lut|mar|kwi|maj|cze|lip|sie|wrz|paź|lis|gru",
        "niedziela|poniedziałek|wtorek|środa|czwartek|piątek|sobota",
        "ndz|pon|wt|śr|czw|pt|sob",
        "Nd|Pn|Wt|Śr|Cz|Pt|So",
        "HH:mm|DD.MM.YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd, D MMMM YYYY HH:mm",
        months_alone="styczeń|luty|marzec|kwiecień|maj|czerwiec|lipiec|sierpień|wrzesień|październik|listopad|grudzień",
        ordinal=".",
        declines="D MMMM",
    ),
    "pt": Forms(
        "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
        "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
        "Domingo|Segunda-feira|Terça-feira|Quarta-feira|Quinta-feira|Sexta-feira|Sábado",
        "Dom|Seg|Ter|Qua|Qui|Sex|Sáb",
        "Do|2ª|3ª|4ª|5ª|6ª|Sá",
        "HH:mm|DD/MM/YYYY|D [de] MMMM [de] YYYY|D [de] MMMM [de] YYYY HH:mm|dddd, D [de] MMMM [de] YYYY HH:mm",
        ordinal="º",
    ),
    "ru": Forms(
        "января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|декабря",
        "янв.|февр.|мар.|апр.|мая|июня|июля|авг.|сент.|окт.|нояб.|дек.",
        "воскресенье|понедельник|вторник|среда|четверг|пятница|суббота",
        "вс|пн|вт|ср|чт|пт|сб",
        "вс|пн|вт|ср|чт|пт|сб",
        "H:mm|DD.MM.YYYY|D MMMM YYYY г.|D MMMM YYYY г., H:mm|dddd, D MMMM YYYY г., H:mm",
        months_alone="январь|февраль|март|апрель|май|июнь|июль|август|сентябрь|октябрь|ноябрь|декабрь",
        months_short_alone="янв.|февр.|март|апр.|май|июнь|июль|авг.|сент.|окт.|нояб.|дек.",
        ordinal="-го|-й|-й|-я",
        halves="400 ночи|1200 утра|1700 дня|2400 вечера",
        cases=(
            (
                r"\[ ?[Вв] ?(?:прошлую|следующую|эту)? ?\] ?dddd",
                "воскресенье|понедельник|вторник|среду|четверг|пятницу|субботу",
            ),
        ),
    ),
    "sv": Forms(
        "januari|februari|mars|april|maj|juni|juli|augusti|september|oktober|november|december",
        "jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec",
        "söndag|måndag|tisdag|onsdag|torsdag|fredag|lördag",
        "sön|mån|tis|ons|tor|fre|lör",
        "sö|må|ti|on|to|fr|lö",
        "HH:mm|YYYY-MM-DD|D MMMM YYYY|D MMMM YYYY [kl.] HH:mm|dddd D MMMM YYYY [kl.] HH:mm",
        other_dates={"lll": "D MMM YYYY HH:mm", "llll": "ddd D MMM YYYY HH:mm"},
    ),
    "da": Forms(
        "januar|februar|marts|april|maj|juni|juli|august|september|oktober|november|december",
        "jan|feb|mar|apr|maj|jun|jul|aug|sep|okt|nov|dec",
        "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
        "søn|man|tir|ons|tor|fre|lør",
        "sø|ma|ti|on|to|fr|lø",
        "HH:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY HH:mm|dddd [d.] D. MMMM YYYY [kl.] HH:mm",
        ordinal=".",
    ),
    "nb": Forms(
        "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
        "jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.",
        "søndag|mandag|tirsdag|onsdag|torsdag|fredag|lørdag",
        "sø.|ma.|ti.|on.|to.|fr.|lø.",
        "sø|ma|ti|on|to|fr|lø",
        "HH:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY [kl.] HH:mm|dddd D. MMMM YYYY [kl.] HH:mm",
        ordinal=".",
    ),
    "nn": Forms(
        "januar|februar|mars|april|mai|juni|juli|august|september|oktober|november|desember",
        "jan.|feb.|mars|apr.|mai|juni|juli|aug.|sep.|okt.|nov.|des.",
        "sundag|måndag|tysdag|onsdag|torsdag|fredag|laurdag",
        "su.|må.|ty.|on.|to.|fr.|lau.",
        "su|må|ty|on|to|fr|la",
        "HH:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY [kl.] H:mm|dddd D. MMMM YYYY [kl.] HH:mm",
        ordinal=".",
    ),
    "fi": Forms(
        "tammikuu|helmikuu|maaliskuu|huhtikuu|toukokuu|kesäkuu|heinäkuu|elokuu|syyskuu|lokakuu|marraskuu|joulukuu",
        "tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu",
        "sunnuntai|maanantai|tiistai|keskiviikko|torstai|perjantai|lauantai",
        "su|ma|ti|ke|to|pe|la",
        "su|ma|ti|ke|to|pe|la",
        "HH.mm|DD.MM.YYYY|Do MMMM[ta] YYYY|Do MMMM[ta] YYYY, [klo] HH.mm|dddd, Do MMMM[ta] YYYY, [klo] HH.mm",
        other_dates={
            "LTS": "HH.mm.ss",
            "ll": "Do MMM YYYY",
            "lll": "Do MMM YYYY, [klo] HH.mm",
            "llll": "ddd, Do MMM YYYY, [klo] HH.mm",
        },
        ordinal=".",
    ),
    "cs": Forms(
        "ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|prosince",
        "led|úno|bře|dub|kvě|čvn|čvc|srp|zář|říj|lis|pro",
        "neděle|pondělí|úterý|středa|čtvrtek|pátek|sobota",
        "ne|po|út|st|čt|pá|so",
        "ne|po|út|st|čt|pá|so",
        "H:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY H:mm|dddd D. MMMM YYYY H:mm",
        months_alone="leden|únor|březen|duben|květen|červen|červenec|srpen|září|říjen|listopad|prosinec",
        other_dates={"l": "D. M. YYYY"},
        ordinal=".",
        declines=r"DD?[o.]?(?:\[[^\[\]]*\]|\s)+MMMM",
    ),
    "hu": Forms(
        "január|február|március|április|május|június|július|augusztus|szeptember|október|november|december",
        "jan.|feb.|márc.|ápr.|máj.|jún.|júl.|aug.|szept.|okt.|nov.|dec.",
        "vasárnap|hétfő|kedd|szerda|csütörtök|péntek|szombat",
        "vas|hét|kedd|sze|csüt|pén|szo",
        "v|h|k|sze|cs|p|szo",
        "H:mm|YYYY.MM.DD.|YYYY. MMMM D.|YYYY. MMMM D. H:mm|YYYY. MMMM D., dddd H:mm",
        ordinal=".",
        halves="1200 DE|2400 DU",
    ),
    "zh-cn": Forms(
        "一月|二月|三月|四月|五月|六月|七月|八月|九月|十月|十一月|十二月",
        "1月|2月|3月|4月|5月|6月|7月|8月|9月|10月|11月|12月",
        "星期日|星期一|星期二|星期三|星期四|星期五|星期六",
        "周日|周一|周二|周三|周四|周五|周六",
        "日|一|二|三|四|五|六",
        "HH:mm|YYYY/MM/DD|YYYY年M月D日|YYYY年M月D日Ah点mm分|YYYY年M月D日ddddAh点mm分",
        other_dates={"lll": "YYYY年M月D日 HH:mm", "llll": "YYYY年M月D日dddd HH:mm"},
        ordinal="日|日|月|周",
        halves="600 凌晨|900 早上|1130 上午|1230 中午|1800 下午|2400 晚上",
    ),
    "vi": Forms(
        "tháng 1|tháng 2|tháng 3|tháng 4|tháng 5|tháng 6|tháng 7|tháng 8|tháng 9|tháng 10|tháng 11|tháng 12",
        "Thg 01|Thg 02|Thg 03|Thg 04|Thg 05|Thg 06|Thg 07|Thg 08|Thg 09|Thg 10|Thg 11|Thg 12",
        "chủ nhật|thứ hai|thứ ba|thứ tư|thứ năm|thứ sáu|thứ bảy",
        "CN|T2|T3|T4|T5|T6|T7",
        "CN|T2|T3|T4|T5|T6|T7",
        "HH:mm|DD/MM/YYYY|D MMMM [năm] YYYY|D MMMM [năm] YYYY HH:mm|dddd, D MMMM [năm] YYYY HH:mm",
        other_dates={"l": "DD/M/YYYY", "ll": "D MMM YYYY", "lll": "D MMM YYYY HH:mm", "llll": "ddd, D MMM YYYY HH:mm"},
        halves="1200 SA|2400 CH",
    ),
    "ca": Forms(
        (
            "de gener|de febrer|de març|d'abril|de maig|de juny|"
            "de juliol|d'agost|de setembre|d'octubre|de novembre|de desembre"
        ),
        "gen.|febr.|març|abr.|maig|juny|jul.|ag.|set.|oct.|nov.|des.",
        "diumenge|dilluns|dimarts|dimecres|dijous|divendres|dissabte",
        "dg.|dl.|dt.|dc.|dj.|dv.|ds.",
        "dg|dl|dt|dc|dj|dv|ds",
        "H:mm|DD/MM/YYYY|D MMMM [de] YYYY|D MMMM [de] YYYY [a les] H:mm|dddd D MMMM [de] YYYY [a les] H:mm",
        months_alone="gener|febrer|març|abril|maig|juny|juliol|agost|setembre|octubre|novembre|desembre",
        other_dates={"ll": "D MMM YYYY", "lll": "D MMM YYYY, H:mm", "llll": "ddd D MMM YYYY, H:mm"},
        declines=r"D[oD]?\s+MMMM",
    ),
    "el": Forms(
        (
            "Ιανουαρίου|Φεβρουαρίου|Μαρτίου|Απριλίου|Μαΐου|Ιουνίου|"
            "Ιουλίου|Αυγούστου|Σεπτεμβρίου|Οκτωβρίου|Νοεμβρίου|Δεκεμβρίου"
        ),
        "Ιαν|Φεβ|Μαρ|Απρ|Μαϊ|Ιουν|Ιουλ|Αυγ|Σεπ|Οκτ|Νοε|Δεκ",
        "Κυριακή|Δευτέρα|Τρίτη|Τετάρτη|Πέμπτη|Παρασκευή|Σάββατο",
        "Κυρ|Δευ|Τρι|Τετ|Πεμ|Παρ|Σαβ",
        "Κυ|Δε|Τρ|Τε|Πε|Πα|Σα",
        "h:mm A|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY h:mm A|dddd, D MMMM YYYY h:mm A",
        months_alone=(
            "Ιανουάριος|Φεβρουάριος|Μάρτιος|Απρίλιος|Μάιος|Ιούνιος|"
            "Ιούλιος|Αύγουστος|Σεπτέμβριος|Οκτώβριος|Νοέμβριος|Δεκέμβριος"
        ),
        ordinal="η",
        halves="1200 ΠΜ|2400 ΜΜ",
        declines="^(?:(?!MMMM).)*D(?:(?!MMMM).)*MMMM",
    ),
    "sk": Forms(
        "január|február|marec|apríl|máj|jún|júl|august|september|október|november|december",
        "jan|feb|mar|apr|máj|jún|júl|aug|sep|okt|nov|dec",
        "nedeľa|pondelok|utorok|streda|štvrtok|piatok|sobota",
        "ne|po|ut|st|št|pi|so",
        "ne|po|ut|st|št|pi|so",
        "H:mm|DD.MM.YYYY|D. MMMM YYYY|D. MMMM YYYY H:mm|dddd D. MMMM YYYY H:mm",
        ordinal=".",
    ),
    "tr": Forms(
        "Ocak|Şubat|Mart|Nisan|Mayıs|Haziran|Temmuz|Ağustos|Eylül|Ekim|Kasım|Aralık",
        "Oca|Şub|Mar|Nis|May|Haz|Tem|Ağu|Eyl|Eki|Kas|Ara",
        "Pazar|Pazartesi|Salı|Çarşamba|Perşembe|Cuma|Cumartesi",
        "Paz|Pzt|Sal|Çar|Per|Cum|Cmt",
        "Pz|Pt|Sa|Ça|Pe|Cu|Ct",
        "HH:mm|DD.MM.YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd, D MMMM YYYY HH:mm",
        halves="1200 ÖÖ|2400 ÖS",
    ),
    "uk": Forms(
        "січня|лютого|березня|квітня|травня|червня|липня|серпня|вересня|жовтня|листопада|грудня",
        "січ|лют|бер|квіт|трав|черв|лип|серп|вер|жовт|лист|груд",
        "неділя|понеділок|вівторок|середа|четвер|п’ятниця|субота",
        "нд|пн|вт|ср|чт|пт|сб",
        "нд|пн|вт|ср|чт|пт|сб",
        "HH:mm|DD.MM.YYYY|D MMMM YYYY р.|D MMMM YYYY р., HH:mm|dddd, D MMMM YYYY р., HH:mm",
        months_alone="січень|лютий|березень|квітень|травень|червень|липень|серпень|вересень|жовтень|листопад|грудень",
        ordinal="-го|-й|-й|-й",
        halves="400 ночі|1200 ранку|1700 дня|2400 вечора",
        cases=(
            (r"\[[ВвУу]\] ?dddd", "неділю|понеділок|вівторок|середу|четвер|п’ятницю|суботу"),
            (r"\[?(?:минулої|наступної)? ?\] ?dddd", "неділі|понеділка|вівторка|середи|четверга|п’ятниці|суботи"),
        ),
    ),
    "ro": Forms(
        "ianuarie|februarie|martie|aprilie|mai|iunie|iulie|august|septembrie|octombrie|noiembrie|decembrie",
        "ian.|feb.|mart.|apr.|mai|iun.|iul.|aug.|sept.|oct.|nov.|dec.",
        "duminică|luni|marți|miercuri|joi|vineri|sâmbătă",
        "Dum|Lun|Mar|Mie|Joi|Vin|Sâm",
        "Du|Lu|Ma|Mi|Jo|Vi|Sâ",
        "H:mm|DD.MM.YYYY|D MMMM YYYY|D MMMM YYYY H:mm|dddd, D MMMM YYYY H:mm",
    ),
    "ar": Forms(
        "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر",
        "يناير|فبراير|مارس|أبريل|مايو|يونيو|يوليو|أغسطس|سبتمبر|أكتوبر|نوفمبر|ديسمبر",
        "الأحد|الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت",
        "أحد|إثنين|ثلاثاء|أربعاء|خميس|جمعة|سبت",
        "ح|ن|ث|ر|خ|ج|س",
        "HH:mm|D/\u200fM/\u200fYYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd D MMMM YYYY HH:mm",
        halves="1200 ص|2400 م",
        digits="٠١٢٣٤٥٦٧٨٩،",
    ),
    "fa": Forms(
        "ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
        "ژانویه|فوریه|مارس|آوریل|مه|ژوئن|ژوئیه|اوت|سپتامبر|اکتبر|نوامبر|دسامبر",
        "یک\u200cشنبه|دوشنبه|سه\u200cشنبه|چهارشنبه|پنج\u200cشنبه|جمعه|شنبه",
        "یک\u200cشنبه|دوشنبه|سه\u200cشنبه|چهارشنبه|پنج\u200cشنبه|جمعه|شنبه",
        "ی|د|س|چ|پ|ج|ش",
        "HH:mm|DD/MM/YYYY|D MMMM YYYY|D MMMM YYYY HH:mm|dddd, D MMMM YYYY HH:mm",
        ordinal="م",
        halves="1200 قبل از ظهر|2400 بعد از ظهر",
        digits="۰۱۲۳۴۵۶۷۸۹،",
    ),
}
