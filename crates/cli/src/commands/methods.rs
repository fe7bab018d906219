//! `lookalike methods`: what there is to find pairs by.

use std::io::Write;

use lookalike::engine::cost::Cost;
use lookalike::method_info::{Alias, MethodInfo, Parameter, all, by_name};

use crate::args::MethodsArgs;
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &MethodsArgs) -> Result<Outcome, Failure> {
    let mut out = std::io::stdout().lock();
    let methods: Vec<MethodInfo> = match &args.name {
        None => all()?,
        Some(name) => vec![by_name(name)?],
    };
    match (args.json, &methods[..], &args.name) {
        (true, [one], Some(_)) => {
            serde_json::to_writer_pretty(&mut out, one).map_err(std::io::Error::from)?
        }
        (true, all, _) => serde_json::to_writer_pretty(&mut out, all).map_err(std::io::Error::from)?,
        (false, [one], Some(_)) => explain(one, &mut out)?,
        (false, all, _) => list(all, &mut out)?,
    }
    if args.json {
        writeln!(out)?;
    }
    Ok(Outcome::Done)
}

fn list(all: &[MethodInfo], out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{:<18}{:<6}{:>7}{:>6}{:>8}  what it does", "method", "alias", "bytes", "keys", "passes")?;
    for method in all {
        let aliases: Vec<&str> = method.aliases.iter().map(|alias| alias.name).collect();
        let Cost { bytes, keys, passes, .. } = method.cost;
        writeln!(
            out,
            "{:<18}{:<6}{bytes:>7}{keys:>6}{passes:>8}  {}",
            method.name,
            aliases.join(" "),
            method.summary
        )?;
        let parameters: Vec<String> = method
            .parameters
            .iter()
            .map(|parameter| format!("{}={}", parameter.name, parameter.default))
            .collect();
        for line in wrapped(&parameters, 100) {
            writeln!(out, "    {line}")?;
        }
        writeln!(out, "    {}", method.source)?;
    }
    writeln!(out, "\nbytes and keys are those of a page of 400 words; lookalike methods NAME explains one")
}

/// Words in lines of at most `width` characters, with commas between.
fn wrapped(words: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < width => {
                line.push(',');
                line.push_str(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

fn explain(method: &MethodInfo, out: &mut impl Write) -> std::io::Result<()> {
    writeln!(out, "{}: {}\n", method.name, method.summary)?;
    for line in method.formula.lines() {
        writeln!(out, "    {line}")?;
    }
    writeln!(out, "\nsource    {}", method.source)?;
    for Alias { name, stands_for } in &method.aliases {
        writeln!(out, "alias     {name} = {stands_for}")?;
    }
    writeln!(out, "profile   {}", method.profile)?;
    let Cost { bytes, payload, keys, passes, lexicon } = &method.cost;
    writeln!(
        out,
        "cost      {bytes} bytes on disk for a page of 400 words ({payload} and {keys} key{}), {passes} pass{} over the input",
        if *keys == 1 { "" } else { "s" },
        if *passes == 1 { "" } else { "es" },
    )?;
    if *lexicon {
        writeln!(out, "lexicon   counted in a pass of its own, unless --lexicon names one")?;
    }
    writeln!(out, "\nparameters")?;
    for Parameter { name, default, meaning } in &method.parameters {
        writeln!(out, "    {:<24}{meaning}", format!("{name}={default}"))?;
    }
    writeln!(out, "\nexample\n    {}", method.example)
}
