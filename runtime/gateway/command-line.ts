import { bundleInfo } from "./build-info.ts";

/** Option of a bundle that validates the environment and the files instead of serving. */
const CHECK = "--check";

const USAGE = `Usage: node gateway.mjs [${CHECK} | --version | --help]

Serves a gateway compiled by gwc. Its configuration is in this file.

Options
  ${CHECK}    read the environment and all files as at startup, and exit
  --version  print the version of gwc and the digest of the configuration
  --help     print this help

Environment
  LOG_FORMAT, RUST_LOG        format (text, json) and levels of logs
  STATS_ADDR, READINESS_ADDR  addresses of /metrics and /healthz/ready, or off
  WORKER_THREADS              threads, if the configuration has workerThreads
  GWC_CONFIG_DIR              folder of files with relative paths
  GWC_STATE_DIR               folder of state that survives a restart
  GWC_SECRETS_DIR             folder of mounted Secrets
  GWC_CONFIG_MAPS_DIR         folder of mounted ConfigMaps
  SESSION_KEY                 64 hex digits that seal sessions; older keys
                              follow after commas, and only unseal
startup.ts of the build lists what this gateway reads.
`;

// A bundle evaluates this module before those that read the environment, so that questions need no environment. Threads and
// importing programs have no command line of the bundle.
if (import.meta.main) readOptions(process.argv.slice(2));

/** Answers a question and exits; returns if the process is to serve or to check. */
function readOptions(options: readonly string[]): void {
  const [option, ...more] = options;
  if (option === undefined || (option === CHECK && more.length === 0)) return;
  if (option === "--help" || option === "-h") end(0, USAGE);
  if (option === "--version") {
    const { version, configDigest } = bundleInfo;
    end(0, `gwc ${version}, configuration ${configDigest}\n`);
  }
  const unknown = option === CHECK ? more[0] : option;
  process.stderr.write(`error: unknown option "${unknown}"\nhint: see --help\n`);
  process.exit(2);
}

function end(code: number, text: string): never {
  process.stdout.write(text);
  process.exit(code);
}

/** Whether the process was started with `--check`. */
export function isOnlyChecked(): boolean {
  return process.argv[2] === CHECK;
}
