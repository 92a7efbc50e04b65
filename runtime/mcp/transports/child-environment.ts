/** What a child inherits; everything else of the gateway's environment (keys, secrets) is not its business. */
const INHERITED = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "TERM",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  // Paths of authorities: npx and uvx fetch through what intercepts TLS, as the gateway itself does.
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
] as const;

/** The few variables that a child needs of the gateway's environment. */
export function inheritedEnvironment(): Readonly<Record<string, string>> {
  const env: Record<string, string> = {};
  for (const name of INHERITED) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
