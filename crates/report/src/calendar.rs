//! Words that belong to dates and times.

/// Months, weekdays and hours in the languages that most of the web is written in, as profiles write words:
/// lower case, accents kept. English abbreviations too, since page headers are full of them.
const NAMES: &str = "
january february march april may june july august september october november december
jan feb mar apr jun jul aug sep sept oct nov dec
monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
am pm noon midnight utc gmt est edt cst cdt pst pdt cet cest today yesterday tomorrow
januar februar märz mai juni juli oktober dezember
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
janvier février mars avril juin juillet août septembre octobre novembre décembre
lundi mardi mercredi jeudi vendredi samedi dimanche
enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
lunes martes miércoles jueves viernes sábado domingo
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
lunedì martedì mercoledì giovedì venerdì sabato domenica
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
понедельник вторник среда четверг пятница суббота воскресенье
";

/// True for a word with a digit in it and for the name of a month, a weekday or an hour.
pub(crate) fn is_number_or_date(word: &str) -> bool {
    word.chars().any(char::is_numeric) || NAMES.split_ascii_whitespace().any(|name| name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_and_names_of_the_calendar_count() {
        for word in ["2019", "3rd", "x2", "may", "août", "понедельник", "pm", "٣"] {
            assert!(is_number_or_date(word), "{word}");
        }
        for word in ["maybe", "sunny", "price", "", "один"] {
            assert!(!is_number_or_date(word), "{word}");
        }
    }
}
