/** Escapes `$`, so that gwc does not read a string as a reference to a variable. */
export function plainText(text: string): string {
  return text.replace(/\$(?=[${A-Za-z_])/g, "$$$$");
}

/** Formats a string literal for CEL. */
export function celText(text: string): string {
  return JSON.stringify(text);
}

/** Formats a string for display with likely credentials redacted; `name` is kept. */
export function publicText(text: string, name = ""): string {
  const line = `${name} ${text}`.trim().replace(/\s+/g, " ");
  if ([CREDENTIAL, SCHEME, COOKIE].some((each) => each.test(line)))
    return `${name} (a credential)`.trim();
  return withoutUser(line).slice(0, 100);
}

/** Removes the user and password from URLs. */
export function withoutUser(url: string): string {
  return url.replace(/(:\/\/)[^/\s?#]*@/g, "$1");
}

/** Whether a URL has a user or a password. */
export function hasUser(url: string): boolean {
  return withoutUser(url) !== url;
}

/** Whether a field or header of this name may contain a credential. */
export function namesCredential(name: string): boolean {
  return /authori[sz]ation|cookie|passw|secret|token|credential|api[-_]?key|^x-key$|dsn/i.test(
    name,
  );
}

const CREDENTIAL =
  /\b(authorization|password|passwd|secret|credentials?|api[-_]?key|auth[-_]token)\b|\$2[aby]\$|\$apr1\$|\$argon2/i;
/** Credentials of Authorization without the header's name; `basic` alone is also the name of formats. */
const SCHEME = /\b(?:basic\s+[\w+/~-]{6,}=*|bearer\s+\S+)/i;
/** Values of cookies: in headers, or after the name of one (`lb_policy cookie NAME SECRET`). */
const COOKIE = /header.*\bcookie\W*\s+\S|\bcookie\s*[:=]|(?:^|\s)cookie\s+\S+\s+\S/i;

/** Converts a string to a route name: lower-case letters, digits and dashes. */
export function routeName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return name === "" ? "all" : name;
}

/** Converts a string to the name of an environment variable. */
export function secretName(text: string): string {
  const name = text
    .toUpperCase()
    .replace(/\W+/g, "_")
    .replace(/^_+|_+$/g, "");
  return /^[A-Z]/.test(name) ? name : `GATEWAY_${name}`;
}

/** Returns `cidr("10.0.0.0/8").containsIP(source.address)`; `undefined` if the string is not an address or network. */
export function addressTest(who: string): string | undefined {
  if (/^[0-9.]+$/.test(who) || /^[0-9a-f:]+$/i.test(who)) {
    const bits = who.includes(":") ? 128 : 32;
    return `cidr(${celText(`${who}/${bits}`)}).containsIP(source.address)`;
  }
  if (!/^[0-9a-f.:]+\/\d+$/i.test(who)) return undefined;
  return `cidr(${celText(who)}).containsIP(source.address)`;
}
