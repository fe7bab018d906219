//! `lookalike presets`: the settings of published pipelines.

use std::io::Write;

use lookalike::presets::{PRESETS, Preset};

use crate::args::PresetsArgs;
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &PresetsArgs) -> Result<Outcome, Failure> {
    let mut out = std::io::stdout().lock();
    match args.preset {
        None => list(&mut out)?,
        Some(preset) => show(preset, &mut out)?,
    }
    Ok(Outcome::Done)
}

fn list(out: &mut impl Write) -> std::io::Result<()> {
    for preset in PRESETS {
        writeln!(out, "{:<14}{}", preset.name, preset.summary())?;
    }
    writeln!(out, "\nlookalike presets NAME shows one, with what differs from the original")
}

/// Writes a recipe that can be given to `--recipe`; all else in it are comments.
fn show(preset: &Preset, out: &mut impl Write) -> Result<(), Failure> {
    for line in preset.comments() {
        writeln!(out, "{}", format!("# {line}").trim_end())?;
    }
    write!(out, "\n{}", preset.recipe()?.to_toml())?;
    Ok(())
}
