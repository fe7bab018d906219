//! Function words: the small words that running text cannot do without, and lists of links can.
//!
//! One list for all languages together: a page is mostly in one of them, and telling which is not needed to
//! tell sentences from navigation. English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Czech,
//! Russian, Turkish, Swedish, Danish and Norwegian.

/// The longest function word, in bytes.
const LONGEST: usize = 12;

/// True for a function word of one of our languages, in any case.
pub(super) fn is_function_word(word: &str) -> bool {
    // Lower-casing may shorten a word, but none of ours.
    if word.is_empty() || word.len() > LONGEST {
        return false;
    }
    if word.is_ascii() {
        return TABLE.contains(key(word.as_bytes()));
    }
    let mut buffer = [0; 4 * LONGEST];
    let mut length = 0;
    for lower in word.chars().flat_map(char::to_lowercase) {
        length += lower.encode_utf8(&mut buffer[length..]).len();
    }
    length <= LONGEST && TABLE.contains(key(&buffer[..length]))
}

/// A word of up to 16 bytes as one number, its ASCII letters in lower case.
const fn key(word: &[u8]) -> u128 {
    let mut packed = 0;
    let mut at = 0;
    while at < word.len() {
        packed = packed << 8 | word[at].to_ascii_lowercase() as u128;
        at += 1;
    }
    packed
}

/// A set of keys with open addressing, built by the compiler: every word of a page is looked up here.
struct Table {
    slots: [u128; SLOTS],
}

const SLOTS: usize = 2048;

static TABLE: Table = {
    let mut slots = [0; SLOTS];
    let mut at = 0;
    while at < FUNCTION_WORDS.len() {
        let key = key(FUNCTION_WORDS[at].as_bytes());
        let mut slot = home(key);
        while slots[slot] != 0 {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = key;
        at += 1;
    }
    Table { slots }
};

const fn home(key: u128) -> usize {
    let folded = (key >> 64) as u64 ^ (key as u64).rotate_left(5);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 53) as usize % SLOTS
}

impl Table {
    fn contains(&self, key: u128) -> bool {
        let mut slot = home(key);
        while self.slots[slot] != 0 {
            if self.slots[slot] == key {
                return true;
            }
            slot = (slot + 1) % SLOTS;
        }
        false
    }
}

/// Sorted by bytes.
#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "aan", "aber", "about", "aby", "af", "after", "al", "ale", "all", "alla", "als", "also", "am",
    "an", "anche", "and", "ani", "any", "ao", "aos", "are", "as", "at", "att", "au", "auch", "auf", "aus",
    "aux", "av", "avec", "be", "because", "been", "before", "bei", "being", "bij", "bir", "bis", "blev",
    "bo", "bu", "but", "by", "być", "był", "była", "can", "ce", "ces", "cette", "che", "ci", "co", "com",
    "come", "comme", "como", "con", "could", "czy", "da", "daha", "dal", "dalla", "dan", "dans", "das",
    "dass", "dat", "de", "dei", "del", "della", "delle", "dem", "den", "der", "des", "det", "deze", "di",
    "did", "die", "diese", "dieser", "dit", "dla", "do", "doch", "does", "door", "dos", "du", "durch", "e",
    "een", "ein", "eine", "einem", "einen", "einer", "eines", "el", "ella", "elle", "eller", "em", "en",
    "entre", "er", "era", "es", "est", "esta", "este", "et", "ett", "foi", "for", "from", "från", "fue",
    "för", "für", "gibi", "gli", "go", "ha", "haben", "had", "har", "has", "hat", "hatte", "have", "hay",
    "he", "her", "here", "het", "hij", "him", "his", "how", "i", "ich", "if", "ihr", "ik", "ikke", "il",
    "ile", "ils", "im", "in", "inte", "into", "is", "ist", "it", "its", "için", "ja", "jag", "jak", "jako",
    "je", "jeg", "jego", "jej", "jest", "jsem", "jsou", "just", "już", "k", "kan", "kann", "která", "které",
    "který", "la", "las", "le", "les", "leur", "lo", "los", "lui", "ma", "maar", "mais", "mas", "me", "med",
    "men", "met", "mit", "more", "most", "my", "más", "na", "naar", "nach", "nas", "ne", "nebo", "nel",
    "nella", "není", "nicht", "nie", "niet", "no", "noch", "nog", "non", "nos", "not", "nous", "now", "nur",
    "não", "o", "och", "od", "oder", "of", "og", "olan", "olarak", "om", "on", "onder", "one", "only",
    "ook", "op", "or", "os", "other", "ou", "our", "out", "over", "où", "par", "para", "pas", "pela",
    "pelo", "per", "pero", "più", "plus", "po", "pod", "por", "pour", "pro", "przez", "przy", "på", "při",
    "qu", "quando", "que", "questo", "qui", "s", "sa", "se", "sein", "sem", "ser", "ses", "she", "should",
    "si", "sich", "sie", "sin", "sind", "się", "so", "sobre", "som", "some", "son", "sono", "sont", "su",
    "sua", "such", "sur", "sus", "são", "są", "tak", "también", "também", "te", "tego", "też", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "through", "til",
    "till", "to", "tot", "tym", "uit", "um", "uma", "un", "una", "und", "under", "une", "uns", "unter",
    "up", "us", "v", "van", "var", "ve", "veya", "vid", "vom", "von", "voor", "vor", "vous", "w", "war",
    "waren", "was", "wat", "we", "wenn", "werd", "werden", "were", "what", "when", "where", "which",
    "while", "who", "wie", "will", "wir", "wird", "with", "worden", "would", "wurde", "y", "ya", "you",
    "your", "z", "za", "ze", "zich", "zijn", "zo", "zu", "zum", "zur", "är", "çok", "è", "été", "être",
    "über", "że", "že", "а", "без", "бы", "был", "была", "были", "было", "быть", "в", "вам", "вас", "во",
    "вот", "все", "вы", "где", "для", "до", "его", "ее", "если", "есть", "еще", "же", "за", "и", "из",
    "или", "им", "их", "к", "как", "ко", "когда", "кто", "ли", "мы", "на", "не", "него", "нет", "но", "о",
    "об", "он", "она", "они", "от", "по", "под", "при", "с", "со", "так", "также", "то", "только", "у",
    "уже", "что", "чтобы", "это", "этого", "этой", "этот", "я",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(FUNCTION_WORDS.is_sorted_by(|one, other| one < other));
        assert_eq!(FUNCTION_WORDS.iter().map(|word| word.len()).max(), Some(LONGEST));
    }

    #[test]
    fn words_are_found_in_any_case() {
        for word in ["the", "The", "UND", "это", "ЭТО", "être", "Über"] {
            assert!(is_function_word(word), "{word}");
        }
        for word in ["", "ship", "漢字", "İİİİİİİİ", "ﷺﷺﷺﷺ"] {
            assert!(!is_function_word(word), "{word}");
        }
    }
}
