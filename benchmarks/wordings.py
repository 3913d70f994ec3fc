"""The words of the histories of `benchmarks/history.py`: what facts are about, and how people write and ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one history, of which each set of facts is made."""

    subjects: Mapping[str, Sequence[str]]
    """What facts are about, and which facts there are of each."""
    values: Sequence[str]
    statements: Sequence[str]
    """How a fact is written down, with `{subject}`, `{attribute}` and `{value}`."""
    present: Sequence[str]
    """Questions about what holds."""
    past: Sequence[str]
    """Questions about what held: before the present value, and in a `{month}`."""
    noise: Sequence[str]
    """Lines that say nothing of a fact."""

    @property
    def is_ascii(self) -> bool:
        """Whether ids of lines can be made of its words."""
        return all(map(str.isascii, self.subjects))


OWN = Wording(
    subjects={
        "order desk": ("database", "supplier", "courier", "invoice format"),
        "mill": ("grain", "miller", "lubricant", "opening hour"),
        "library": ("catalogue", "loan period", "shelf mark", "scanner"),
        "newsletter": ("mail provider", "typeface", "editor", "print run"),
        "workshop": ("lathe", "insurance", "steel grade", "glue"),
        "website": ("hosting", "chart library", "analytics", "font"),
        "garden": ("compost", "gardener", "greenhouse", "irrigation"),
        "choir": ("conductor", "rehearsal room", "repertoire", "accompanist"),
        "laptop fleet": ("password manager", "backup place", "operating system", "warranty"),
        "kitchen": ("oven", "flour", "menu", "dishwasher"),
    },
    values=(
        "Brandt", "Okafor", "Lindqvist", "Moreau", "Falkenstein", "Dublin", "Oslo", "Turin", "Alder",
        "Birch", "Cedar", "Delft", "Ember", "Fjord", "Granite", "Harbour", "Indigo", "Juniper",
        "Kestrel", "Lagoon", "Marble", "Nimbus", "Onyx", "Pampas", "Quartz", "Raven", "Saffron",
        "Tundra", "Umber", "Vesper", "Willow", "Xenon", "Yarrow", "Zephyr", "Amber", "Basalt",
    ),
    statements=(
        "The {attribute} of the {subject} is {value}.",
        "For the {subject} we use {value} as {attribute} from now on.",
        "Decided: {value} becomes the {attribute} of the {subject}.",
        "{value} is the new {attribute} for the {subject}, since the last one failed us.",
    ),
    present=("what is the {attribute} of the {subject}", "which {attribute} do we use for the {subject}"),
    past=(
        "which {attribute} did the {subject} have before {value}",
        "what was the {attribute} of the {subject} in {month}",
    ),
    noise=(
        "Talked about the {subject} with a visitor.",
        "Read an article on how to choose a {attribute}.",
        "The {subject} was busy; nothing was decided.",
        "Compared prices of {value}, without a result.",
        "Lunch, then a walk.",
    ),
)  # fmt: skip
"""No two subjects share a fact."""
SHARED = replace(
    OWN,
    subjects=dict.fromkeys(
        ("order desk", "mill", "library", "newsletter", "workshop"),
        ("supplier", "database", "insurance", "password manager", "backup place", "opening hour", "editor", "courier"),
    ),
)
"""The harder set: the same facts of each subject, so that a question's words are those of five facts."""
GERMAN = Wording(
    subjects=dict.fromkeys(
        ("Bäckerei Holm", "Werkstatt Nord", "Stadtbücherei", "Rundbrief", "Übungsraum"),
        ("Lieferant", "Datenbank", "Versicherung", "Schlüsseldienst", "Öffnungszeit", "Kassenwart", "Bote", "Drucker"),
    ),
    values=(
        "Krüger", "Völkel", "Jansen", "Petersen", "Brömmel", "Hinrichs", "Ahorn", "Buche", "Distel", "Esche",
        "Fichte", "Ginster", "Hasel", "Iltis", "Jade", "Kiesel", "Linde", "Marder", "Nebel", "Otter", "Pappel",
        "Quelle", "Reiher", "Schlehe", "Tanne", "Ulme", "Viper", "Wiesel", "Zander", "Zirbe",
    ),
    statements=(
        "{attribute} für {subject} ist {value}.",
        "Für {subject} nehmen wir ab jetzt {value} als {attribute}.",
        "Beschlossen: {value} wird {attribute} bei {subject}.",
        "{value} ist neu als {attribute} bei {subject}, weil es vorher nicht ging.",
    ),
    present=("was ist {attribute} bei {subject}", "wen oder was nehmen wir als {attribute} für {subject}"),
    past=("was war {attribute} bei {subject} vor {value}", "was war {attribute} bei {subject} in {month}"),
    noise=(
        "Mit einem Gast über {subject} gesprochen.",
        "Artikel gelesen, worauf es bei {attribute} ankommt.",
        "Viel los bei {subject}; nichts beschlossen.",
        "Preise von {value} verglichen, ohne Ergebnis.",
        "Mittagessen, danach ein Spaziergang.",
    ),
)  # fmt: skip
JAPANESE = Wording(
    subjects=dict.fromkeys(
        ("受注窓口", "製粉所", "市立図書館", "会報", "木工房"),
        ("仕入先", "データベース", "保険会社", "鍵の業者", "営業時間", "会計係", "配送業者", "印刷機"),
    ),
    values=(
        "山本", "佐藤", "高橋", "渡辺", "中村", "小林", "加藤", "吉田", "清水", "森田", "池田", "橋本", "石川", "前川",
        "藤井", "岡田", "長谷川", "村上", "近藤", "坂本", "遠藤", "青木", "西村", "福田", "太田", "三浦", "原口",
    ),
    statements=(
        "{subject}の{attribute}は{value}です。",
        "{subject}では今後{attribute}として{value}を使う。",
        "決定: {value}を{subject}の{attribute}にする。",
        "{value}が{subject}の新しい{attribute}になった。前のはうまくいかなかった。",
    ),
    present=("{subject}の{attribute}は何ですか", "{subject}ではどの{attribute}を使っていますか"),
    past=("{value}になる前の{subject}の{attribute}は何でしたか", "{month}の{subject}の{attribute}は何でしたか"),
    noise=(
        "{subject}について来客と話した。",
        "{attribute}の選び方の記事を読んだ。",
        "{subject}は忙しく、何も決まらなかった。",
        "{value}の価格を比べたが、結論は出なかった。",
        "昼食のあと散歩をした。",
    ),
)  # fmt: skip
SETS = {"own": OWN, "shared": SHARED, "German": GERMAN, "Japanese": JAPANESE}
