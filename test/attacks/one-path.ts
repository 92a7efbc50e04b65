/**
 * The one form of a target's path, found as the words of the rule say it and not as the gateway does it: a step at a
 * time, until nothing changes. Undefined for what has none.
 */
export function onePath(target: string): string | undefined {
  const [path = "", ...query] = target.split("?");
  if (/%(?![0-9a-f]{2})|%2f|%5c|%00|\\/i.test(path)) return undefined;
  let form = path.replace(/%[0-9a-f]{2}/gi, (octet) => {
    const character = decodeURIComponent(/%[0-7]/.test(octet) ? octet : "%25");
    return /^[A-Za-z0-9._~-]$/.test(character) ? character : octet.toUpperCase();
  });
  if (/\/\.\.?(?:;|%3B)/.test(form) || /\/(?:;|%3B)[^/]*\//.test(form)) return undefined;
  for (;;) {
    const next = form
      .replace(/\/\/+/, "/")
      .replace(/\/\.(?=\/|$)/, (dot, at: number, all: string) =>
        at + dot.length === all.length ? "/" : "",
      )
      .replace(/\/(?!\.\.?(?:\/|$))[^/]+\/\.\.(\/|$)/, "/");
    if (next === form) break;
    form = next;
  }
  if (/\/\.\.(?:\/|$)/.test(form)) return undefined;
  return [form === "" ? "/" : form, ...query].join("?");
}
