//! Function words, a short list per language.
//!
//! The lists hold what carries grammar and no topic: articles, pronouns, prepositions, conjunctions, auxiliary
//! verbs. They are short on purpose; long published lists also drop words that tell documents apart. All words
//! are in lower case and NFC.

use std::sync::LazyLock;

use lookalike_hash as hash;

/// The languages that have a list, by their two-letter code.
pub const LANGUAGES: [&str; 14] =
    ["cs", "da", "de", "en", "es", "fr", "it", "nb", "nl", "pl", "pt", "ru", "sv", "tr"];

/// The function words of a language, separated by white space; `None` for a language without a list.
pub fn function_words(language: &str) -> Option<impl Iterator<Item = &'static str>> {
    let list = match language {
        "cs" => CZECH,
        "da" => DANISH,
        "de" => GERMAN,
        "en" => ENGLISH,
        "es" => SPANISH,
        "fr" => FRENCH,
        "it" => ITALIAN,
        "nb" => NORWEGIAN,
        "nl" => DUTCH,
        "pl" => POLISH,
        "pt" => PORTUGUESE,
        "ru" => RUSSIAN,
        "sv" => SWEDISH,
        "tr" => TURKISH,
        _ => return None,
    };
    Some(list.split_ascii_whitespace())
}

/// True for a function word of any of our languages, in any case. A page is mostly in one of them, and telling
/// which is not needed to tell sentences from lists of links.
pub(crate) fn is_function_word(word: &str) -> bool {
    let mut buffer = [0; 3 * LONGEST];
    // No lower-case form is more than three times as long.
    if word.len() > LONGEST {
        return false;
    }
    let mut length = 0;
    for lower in word.chars().flat_map(char::to_lowercase) {
        length += lower.encode_utf8(&mut buffer[length..]).len();
    }
    FUNCTION_WORDS.contains(hash::word(&buffer[..length]))
}

/// The longest function word, in bytes.
const LONGEST: usize = 22;

/// A set of word hashes with open addressing: every word of a page is looked up here.
struct WordHashSet {
    slots: Vec<u64>,
}

const SLOTS: usize = 8192;

static FUNCTION_WORDS: LazyLock<WordHashSet> = LazyLock::new(|| {
    let mut set = WordHashSet { slots: vec![0; SLOTS] };
    for word in LANGUAGES.iter().filter_map(|language| function_words(language)).flatten() {
        let hash = hash::word(word.as_bytes());
        let slot = set.slot(hash);
        set.slots[slot] = hash;
    }
    set
});

impl WordHashSet {
    /// Returns the slot that holds `hash`, or the free one that it would be put in.
    fn slot(&self, hash: u64) -> usize {
        let mut slot = hash as usize % SLOTS;
        while self.slots[slot] != 0 && self.slots[slot] != hash {
            slot = (slot + 1) % SLOTS;
        }
        slot
    }

    fn contains(&self, hash: u64) -> bool {
        self.slots[self.slot(hash)] != 0
    }
}

const ENGLISH: &str = "
    a about above after again against all although am among an and any are around as at be because been before
    being below between both but by can cannot could did do does doing down during each either every few for
    from further had has have having he her here hers herself him himself his how i if in into is it its itself
    just may me might more most much must my myself neither no nor not of off on once only onto or other our
    ours ourselves out over own same shall she should since so some such than that the their theirs them
    themselves then there these they this those though through thus to too under until up upon us very was we
    were what when where whether which while who whom whose why will with within without would yet you your
    yours yourself yourselves";

const GERMAN: &str = "
    aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim
    bin bis bist da dadurch daher damit dann darum das dass dazu dein deine dem den denn der deren des dessen
    dich die dies diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er
    es etwas euch euer eure für gegen gewesen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen
    ihr ihre ihrem ihren ihrer ihres im in indem ins ist ja jede jedem jeden jeder jedes jener jetzt kann kein
    keine keinem keinen keiner können könnte man mein meine mich mir mit muss musste nach nicht nichts noch nun
    nur ob oder ohne sehr sein seine seinem seinen seiner seines seit selbst sich sie sind so solche soll sollte
    sondern sonst über um und uns unser unsere unter viel vom von vor war waren warum was weder weil welche
    welchem welchen welcher welches wenn wer werde werden weshalb wie wieder will wir wird wirst wo wollen wurde
    wurden während würde würden zu zum zur zwar zwischen";

const FRENCH: &str = "
    ai alors après au aucun aussi autre aux avait avec avoir avant car ce ceci cela celle celles celui ces cet
    cette ceux chaque chez comme comment contre dans de depuis des donc dont du elle elles en encore entre est
    et était étaient être eu eux fait il ils je jusque la là le les leur leurs lors lui ma mais me même mes moi
    moins mon ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus plusieurs pour pourquoi
    puis quand que quel quelle quelles quels qui quoi sa sans se selon sera ses si sinon soit son sont sous sur
    ta te tes toi ton tous tout toute toutes très tu un une vers vos votre vous y";

const SPANISH: &str = "
    a al algo alguna algunas alguno algunos ante antes aquel aquella aunque cada como con contra cual cuando de
    del desde donde durante e él ella ellas ellos en entre era eran es esa esas ese eso esos esta está estaba
    están estas este esto estos fue fueron ha había han hasta hay la las le les lo los más me mi mientras mis
    mucho muy nada ni no nos nosotros o os otra otras otro otros para pero poco por porque pues que qué quien
    quienes se sea según ser si sí sido sin sino sobre son su sus también tan tanto te tiene tienen toda todas
    todo todos tras tu tus un una unas uno unos usted ustedes y ya yo";

const ITALIAN: &str = "
    a ad agli ai al alla alle allo anche avere che chi ci come con contro cui da dagli dai dal dalla dalle dallo
    degli dei del della delle dello di dopo dove e ed era erano essere fra gli ha hanno i il in io la le lei li
    lo loro lui ma me mentre mi mia mie miei mio molto ne negli nei nel nella nelle nello noi non nostra nostro
    o ogni oppure per perché più poi prima quale quali quando quanto quasi quella quelle quelli quello questa
    queste questi questo se sé sei senza si sia siamo sono sopra sotto stata stato su sua sue sui sul sulla
    sulle suo suoi tra tu tua tuo tutti tutto un una uno vi voi vostra vostro";

const DUTCH: &str = "
    aan achter al alle alleen als altijd andere ben bij binnen daar dan dat de den der deze die dit doch doen
    door dus echter een en er ge geen geweest had hadden heb hebben heeft hem het hier hij hoe hun ik in is ja
    je jij jullie kan kon kunnen maar me meer men met mij mijn moet na naar naast niet niets nog nu of om omdat
    ons onze ook op over reeds sinds te tegen toch toen tot tussen u uit uw van veel voor waar waren was wat we
    weer wel werd wezen wie wij wil worden wordt zal ze zelf zich zij zijn zo zonder zou zullen";

const PORTUGUESE: &str = "
    a à ao aos aquela aquele aqueles aquilo as às até cada com como contra da das de dela dele deles depois
    desde do dos e é ela elas ele eles em enquanto entre era eram essa essas esse esses esta está estão estas
    estava este estes eu foi foram há isso isto já lhe lhes mais mas me mesmo meu minha muito na não nas nem no
    nos nós nossa nosso num numa o os ou para pela pelas pelo pelos pois por porque quais qual quando que quem
    são se seja sem ser será seu seus sob sobre sua suas também te tem têm teu toda todas todo todos tu tua um
    uma umas uns você vocês vos";

const RUSSIAN: &str = "
    а без более больше будет будто бы был была были было быть в вам вами вас ведь весь во вот впрочем все всё
    всегда всего всех всю вы где да даже для до его ее её ей ему если есть еще ещё же за зачем здесь и из изза
    или им иметь ими иногда их к каждый как какая какой когда конечно кто куда ли либо лишь лучше между меня
    мне много может можно мой моя мы на над надо наш не него нее неё ней нельзя нет ни нибудь никогда ним них
    ничего но ну о об однако он она они оно опять от перед по под после потом потому почти поэтому при про раз
    разве с сам свое своё своей своих свою себе себя со совсем так также такой там тебя тем теперь то тогда
    того тоже только том тот ту тут ты у уже хотя чего чей чем через что чтоб чтобы чуть эта эти этих это этого
    этой этом этот эту я";

const POLISH: &str = "
    a aby ale ani bardzo bez bo by być był była było były ci co coś czy czyli dla do dlatego gdy gdyż gdzie go
    i ich ile im inne ja jak jako jakie je jednak jego jej jest jeszcze jeśli już kiedy kto która które którego
    której który których którzy lub ma mi między mnie może można mu my na nad nam nas nie nich nim niż no o od
    on ona oni oraz po pod poza przed przez przy są się sobie swoje ta tak także tam te tego tej ten też to tu
    tych tylko tym u w we więc wszystko z za zawsze ze że";

const CZECH: &str = "
    a aby aj ale ani ano až bez bude budou by byl byla byli bylo být co což do i já jak jako je jeho jej její
    jejich jen ještě ji jiné již jsem jsme jsou jste k kde kdo kdy když ke která které kterou který kteří ku má
    mezi mi mít mu na nad nebo není než nic o od on ona oni pak po pod podle pokud pouze právě pro proto protože
    před při s se si sice tak také takže tam tato tedy ten tento této tím to tohoto tomu tu tuto ty u už v ve
    však vše z za ze že";

const SWEDISH: &str = "
    af alla allt alltså andra att av bara blev bli blir bort då de dem den denna deras dess dessa det detta dig
    din dina dock du där efter eftersom eller en er ett från för få får ha hade han hans har hela henne hennes
    hon honom hos hur här i icke in inga ingen innan inte ja jag kan kunde man med mellan men mig min mot mycket
    ni nu när något några och också om oss på redan samt sedan sig sin sina sitt ska skall skulle som så till
    under upp ut utan vad var vara varit vem vi vid vilka vilken vilket vår våra än är åt över";

const DANISH: &str = "
    af alle alt anden at bare begge blev blive bliver da de dem den denne der deres det dette dig din disse dog
    du efter ej eller en end er et for fra få får før gennem ham han hans har havde have hende hendes her hos
    hun hvad hvem hver hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ingen jeg jer kan kun kunne lige man
    med meget mellem men mens mere mig min mod må ned nogen noget nogle nok nu når og også om op os over på
    selv sig sin skal skulle som så til ud under var ved vi vil ville vores være været";

const NORWEGIAN: &str = "
    alle alt andre at av bare begge ble blei bli blir blitt da de dei deg dem den denne der dere deres det dette
    di din disse du eg ein eit eller en enn er et etter for fordi fra før ha hadde han hans har henne hennes her
    hos hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke ikkje ingen inn ja jeg kan kom kun kunne man
    med meg mellom men mens mer min mot mye må ned noe noen nå når og også om opp oss over på samme seg selv sin
    sine sitt skal skulle slik som så til under ut uten var ved vi vil ville vår være vært";

const TURKISH: &str = "
    acaba ama ancak artık aslında az bana bazı belki ben beni benim bile bir biraz birçok biri birkaç biz bize
    bizim böyle bu buna bunda bundan bunlar bunu bunun burada çok çünkü da daha de defa değil diğer diye dolayı
    en eğer gibi göre hangi hatta hem henüz hep hepsi her hiç için ile ilgili ise işte kadar karşı kendi ki kim
    kimse mı mi mu mü nasıl ne neden nerede niye o olan olarak oldu olduğu olduğunu olsa olup on ona onlar onu
    onun orada oysa öyle pek rağmen sadece sanki sen seni senin siz sizin sonra şey şimdi şöyle şu tarafından
    tüm üzere var ve veya ya yani yerine yine yoksa zaten";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case() {
        for word in ["the", "The", "UND", "это", "ЭТО", "être", "Über", "çünkü"] {
            assert!(is_function_word(word), "{word}");
        }
        for word in ["", "ship", "漢字", "İİİİİİİİİİİ", "ﷺﷺﷺﷺ", "Donaudampfschifffahrtsgesellschaft"]
        {
            assert!(!is_function_word(word), "{word}");
        }
    }

    #[test]
    fn the_set_holds_every_word_and_is_never_full() {
        let words: Vec<&str> =
            LANGUAGES.iter().flat_map(|language| function_words(language).unwrap()).collect();
        assert!(words.iter().all(|word| is_function_word(word) && word.len() <= LONGEST));
        assert!(words.len() < SLOTS / 2);
        assert!(function_words("xx").is_none());
    }
}
