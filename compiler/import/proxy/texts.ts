/** A text as gwc writes it: nothing in it is a variable of the environment. */
export function plainText(text: string): string {
  return text.replace(/\$(?=[${])/g, "$$$$");
}

/** A text as CEL has it. */
export function celText(text: string): string {
  return JSON.stringify(text);
}

/** What may be a credential in a text that people read is left out; the name before it, if there is one, stays. */
export function publicText(text: string, name = ""): string {
  const line = `${name} ${text}`.trim().replace(/\s+/g, " ");
  if (CREDENTIAL.test(line)) return `${name} (a credential)`.trim();
  return withoutUser(line).slice(0, 100);
}

/** A URL without its user and password. */
export function withoutUser(url: string): string {
  return url.replace(/(:\/\/)[^/\s?#]*@/g, "$1");
}

/** Whether a URL has a user or a password. */
export function hasUser(url: string): boolean {
  return withoutUser(url) !== url;
}

/** Whether a field or a header of that name may hold a credential. */
export function namesCredential(name: string): boolean {
  return /authori[sz]ation|cookie|passw|secret|token|credential|api[-_]?key|^x-key$|dsn/i.test(
    name,
  );
}

const CREDENTIAL =
  /\b(authorization|cookie|password|passwd|secret|credentials?|api[-_]?key|auth[-_]token|bearer|basic)\b|\$2[aby]\$|\$apr1\$|\$argon2/i;

/** A name for routes: lower-case letters, digits and dashes. */
export function routeName(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  return name === "" ? "all" : name;
}

/** The name of a variable for something secret. */
export function secretName(text: string): string {
  const name = text
    .toUpperCase()
    .replace(/\W+/g, "_")
    .replace(/^_+|_+$/g, "");
  return /^[A-Z]/.test(name) ? name : `GATEWAY_${name}`;
}
