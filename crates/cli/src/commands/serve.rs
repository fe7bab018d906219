//! `lookalike serve`: an index or a finished job over HTTP.

use std::io::Write;
use std::sync::Arc;

use lookalike::walk::Watch;
use lookalike_service::{
    LogFormat, OpenOptions, ServiceError, Settings, Source, Tokens, exposure, listen, probe, serve,
};

use crate::args::{LogArg, ServeArgs};
use crate::console::print_message;
use crate::exit::{Failure, Outcome};

pub(crate) fn run(args: &ServeArgs, watch: &Arc<Watch>) -> Result<Outcome, Failure> {
    // Clap asks for a folder wherever there is no --probe.
    let Some(folder) = &args.folder else {
        probe(args.address)?;
        return Ok(Outcome::Done);
    };
    let settings = settings(args)?;
    // The address first: a long look at a large job is in vain when it is taken.
    let listener = listen(args.address, &settings)?;
    let opening = OpenOptions { read_only: args.read_only, sync: args.sync };
    let source = Source::open(folder, opening)?;
    let address = listener.local_addr().map_err(ServiceError::System)?;
    let mut out = std::io::stdout().lock();
    writeln!(out, "listening on http://{address}")?;
    out.flush()?;
    drop(out);
    serve(source, listener, settings, &watch.stop)?;
    Ok(Outcome::Done)
}

fn settings(args: &ServeArgs) -> Result<Settings, Failure> {
    let tokens = args.token_file.as_deref().map(Tokens::read).transpose()?;
    if let Some(warning) = args.token_file.as_deref().and_then(exposure) {
        print_message(format_args!("lookalike: {warning}"));
    }
    Ok(Settings {
        tokens,
        insecure: args.insecure,
        max_body: args.max_body,
        max_documents: args.max_documents,
        concurrency: args.concurrency.get(),
        timeout: args.timeout,
        threads: args.threads(),
        log: match args.log {
            LogArg::Json => LogFormat::Json,
            LogArg::Text => LogFormat::Text,
            LogArg::None => LogFormat::None,
        },
        log_sink: Arc::new(|line| print_message(line)),
    })
}
