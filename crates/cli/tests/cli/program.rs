//! Completions and manual pages, made from the same definitions as the help.

use lookalike_cli::args::help::PAGES;

use super::support::{Folder, lookalike, shell, skipped};

#[test]
fn completions_know_commands_and_options() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = lookalike(["completions", shell]).run().exits(0).stdout;
        for word in ["dedup", "census", "threshold", "quiet"] {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
    }
    let wrong = lookalike(["completions", "ed"]).run().exits(2);
    assert!(wrong.stderr.starts_with("error: invalid value 'ed'"), "{}", wrong.stderr);
}

#[test]
fn bash_accepts_its_completions_and_completes() {
    if shell("bash --version").run().code != Some(0) {
        skipped("there is no bash");
        return;
    }
    let folder = Folder::new();
    folder.file("lookalike.bash", lookalike(["completions", "bash"]).run().exits(0).stdout);
    let checked = shell("bash -n lookalike.bash").inside(folder.path()).run().exits(0);
    assert_eq!(checked.stderr, "");
    let line = "bash -c 'source ./lookalike.bash; COMP_WORDS=(lookalike dedup --thres); COMP_CWORD=2; \
                _lookalike lookalike --thres dedup; echo \"${COMPREPLY[@]}\"'";
    assert_eq!(shell(line).inside(folder.path()).run().exits(0).stdout, "--threshold\n");
}

#[test]
fn every_command_has_a_manual_page_that_is_read() {
    let folder = Folder::new();
    let done = lookalike(["man", "man1", "--json"]).inside(folder.path()).run().exits(0);
    assert_eq!(done.stdout, format!("{{\n  \"pages\": {}\n}}\n", PAGES.len()));
    let groff = shell("groff --version").run().code == Some(0);
    for page in PAGES {
        let name = format!("lookalike {}", page.command);
        let path = folder.join(format!("man1/{}.1", name.trim().replace(' ', "-")));
        let source =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES"] {
            assert!(source.contains(&format!("\n.SH {section}\n")), "{}: {section}", path.display());
        }
        if groff {
            let shown = shell(&format!("groff -man -Tutf8 -ww {}", path.display())).run().exits(0);
            assert_eq!(shown.stderr, "", "{}", path.display());
            let text = shown.stdout.replace('\u{ad}', "").replace('\u{2010}', "-");
            assert!(text.contains(page.examples[0].0.split(' ').next().unwrap_or_default()), "{text}");
        }
    }
    if !groff {
        skipped("there is no groff to read the pages");
    }
}
