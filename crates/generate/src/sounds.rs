//! The sounds of the invented languages: syllables, from which words are put together.
//!
//! Every character here is its own NFKC form in any order it can come to stand in, and lower-case where its
//! script has cases, so that a word's spelling is also its normal form. That excludes, for one, Thai SARA AM
//! and the prolonged sound mark, which belongs to no script.

use crate::Language;
use crate::random::Random;

/// One way to build syllables: an onset, a vowel, a coda; `_` stands for nothing.
struct Sounds {
    onsets: &'static str,
    vowels: &'static str,
    codas: &'static str,
}

const LATIN: &[Sounds] = &[Sounds {
    onsets: "b br c ch d dr f fl g gr h j l m n p pl qu r s st t tr v z ç ñ",
    vowels: "a a e e i o u ai ei é è à ü ö å ø ã",
    codas: "_ _ _ _ n r s l m nt x",
}];

const CYRILLIC: &[Sounds] = &[Sounds {
    onsets: "б в г д ж з к л м н п р с т ф х ц ч ш щ ст пр тр кр",
    vowels: "а е и о у ы э ю я",
    codas: "_ _ _ _ н л р т й сь",
}];

const GREEK: &[Sounds] = &[Sounds {
    onsets: "β γ δ ζ θ κ λ μ ν ξ π ρ σ τ φ χ ψ στ πρ κλ",
    vowels: "α ε η ι ο υ ω ά έ ή ί ό ύ ώ ου αι ει",
    codas: "_ _ _ _ ν ρ",
}];

const ARABIC: &[Sounds] = &[Sounds {
    onsets: "ب ت ث ج ح خ د ذ ر ز س ش ص ض ط ظ ع غ ف ق ك ل م ن ه",
    vowels: "_ _ ا و ي",
    codas: "_ _ ن ل م ر",
}];

const DEVANAGARI: &[Sounds] = &[Sounds {
    onsets: "क ख ग घ च छ ज झ ट ठ ड त थ द ध न प फ ब भ म य र ल व श स ह क्ष त्र प्र स्त न्द",
    vowels: "_ _ ा ि ी ु ू े ै ो",
    codas: "_ _ _ न र ल म ं",
}];

const COMMON_HAN: &str = "一 人 大 小 上 下 中 日 月 山 水 火 木 金 土 天 地 風 雨 雪 花 草 石 田 力 口 目 耳 手 足 \
     心 子 女 男 父 母 友 王 玉 竹 米 糸 貝 車 門 馬 鳥 魚 牛 羊 犬 虫 林 森 川 海 池 空 雲 星 光 明 夜 朝 夕 春 \
     夏 秋 冬 東 西 南 北 左 右 前 後 内 外 入 出 行 来 走 立 休 見 言 話 読 書 食 飲 買 売 作 使 学 校 生 先 年 \
     時 分 半 今 毎 週 間 市 町 村 国 京 道 家 室 店 寺 場 所 公 園 電 線 白 黒 赤 青 黄 色 高 低 長 短 新 古 多 \
     少 早 近 遠 強 弱 太 細 元 気 名 字 文 本 語 数 万 千 百 同 合 回 会 社 理 科 音 楽 絵 画 歌 形 点 角 方 向 \
     主 客 全 部 品 物 事 用 意 味 安 定 正 直 平 和 開 始 終 止 進 通 交 番 号 首 頭 顔 声 体 毛 肉 米 茶 麦 船";

const HAN: &[Sounds] = &[Sounds { onsets: COMMON_HAN, vowels: "_", codas: "_" }];

const JAPANESE: &[Sounds] = &[
    Sounds { onsets: COMMON_HAN, vowels: "_", codas: "_ _ い く る の" },
    Sounds {
        onsets: "あ い う え お か き く け こ が さ し す せ そ た ち つ て と だ な に ぬ ね の は ひ ふ ほ ま み む め も や ゆ よ ら り る れ ろ わ",
        vowels: "_",
        codas: "_ _ _ ん",
    },
    Sounds {
        onsets: "ア イ ウ エ オ カ キ ク ケ コ サ シ ス セ ソ タ チ テ ト ナ ニ ネ ノ ハ ヒ フ ホ マ ミ ム メ モ ヤ ユ ヨ ラ リ ル レ ロ ワ",
        vowels: "_",
        codas: "_ _ ン",
    },
];

const THAI: &[Sounds] = &[
    Sounds {
        onsets: "ก ข ค ง จ ช ซ ด ต ท น บ ป ผ พ ฟ ม ย ร ล ว ส ห อ",
        vowels: "า ะ ิ ี ุ ู า ั",
        codas: "_ ่ ้ น ม ก ง",
    },
    Sounds {
        onsets: "เก เข เค เจ เช เด เต เท เน เบ แก แข แด แต แน โก โค โต โน ไก ไข ไต ไท",
        vowels: "_",
        codas: "_ ่ ้ น ม ย",
    },
];

fn sounds(language: Language) -> &'static [Sounds] {
    match language {
        Language::English | Language::Latin => LATIN,
        Language::Cyrillic => CYRILLIC,
        Language::Greek => GREEK,
        Language::Arabic => ARABIC,
        Language::Devanagari => DEVANAGARI,
        Language::Han => HAN,
        Language::Japanese => JAPANESE,
        Language::Thai => THAI,
    }
}

/// Makes words of one language.
pub(crate) struct WordMaker {
    ways: Vec<[Vec<&'static str>; 3]>,
}

impl WordMaker {
    pub(crate) fn new(language: Language) -> Self {
        let parts = |list: &'static str| list.split_whitespace().collect();
        let ways = sounds(language).iter();
        WordMaker { ways: ways.map(|way| [parts(way.onsets), parts(way.vowels), parts(way.codas)]).collect() }
    }

    /// Appends a word of `syllables` syllables.
    pub(crate) fn push_word(&self, syllables: u32, random: &mut Random, word: &mut String) {
        let way = &self.ways[random.index(self.ways.len())];
        for _ in 0..syllables {
            for part in way {
                let sound = part[random.index(part.len())];
                if sound != "_" {
                    word.push_str(sound);
                }
            }
        }
    }
}
