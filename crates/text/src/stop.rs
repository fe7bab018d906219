//! Function words, a short list per language.
//!
//! The lists hold what carries grammar and no topic: articles, pronouns, prepositions, conjunctions, auxiliary
//! verbs. They are short on purpose; long published lists also drop words that tell documents apart. All words
//! are in lower case and NFC.

/// The languages that have a list, by their two-letter code.
pub const LANGUAGES: [&str; 8] = ["de", "en", "es", "fr", "it", "nl", "pt", "ru"];

/// The function words of a language, separated by white space; `None` for a language without a list.
pub fn function_words(language: &str) -> Option<impl Iterator<Item = &'static str>> {
    let list = match language {
        "de" => GERMAN,
        "en" => ENGLISH,
        "es" => SPANISH,
        "fr" => FRENCH,
        "it" => ITALIAN,
        "nl" => DUTCH,
        "pt" => PORTUGUESE,
        "ru" => RUSSIAN,
        _ => return None,
    };
    Some(list.split_ascii_whitespace())
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
