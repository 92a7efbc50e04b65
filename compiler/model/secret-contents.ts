import { readApiKeyEntry } from "../../runtime/contents/api-key-entry.ts";
import { readAuthorization } from "../../runtime/contents/authorization-value.ts";
import { readClientSecret } from "../../runtime/contents/client-secret.ts";
import { googleCredentialKind } from "../../runtime/contents/google-credentials.ts";
import { PasswordFile } from "../../runtime/contents/password-file.ts";
import { readPrivateKey } from "../../runtime/contents/private-key.ts";
import { readSentKey } from "../../runtime/contents/sent-key.ts";
import { visibleWord } from "../../runtime/contents/visible-word.ts";
import { pemCertificates } from "../../runtime/tls/ca-certificates.ts";
import { readCertificatePair } from "../../runtime/tls/certificate-pair.ts";

/** Formats of an entry that is read by its name. */
export type SecretContent =
  | "passwords"
  | "authorization"
  | "word"
  | "clientSecret"
  | "sentKey"
  | "googleCredentials"
  | "privateKey"
  | "certificate"
  | "authorities";

/** Formats that a value alone can have. */
type ValueFormat = Exclude<SecretContent, "certificate">;

/** Entries that something reads by their names if nothing else is configured, and the formats in which they are read. */
const FORMATS: Readonly<Record<string, readonly ValueFormat[]>> = {
  ".htaccess": ["passwords"],
  Authorization: ["authorization", "sentKey"],
  "ca.cert": ["authorities"],
  "tls.crt": [],
  "tls.key": [],
  clientSecret: ["clientSecret", "word"],
  signingKey: ["privateKey"],
  certificate: ["authorities"],
  clientId: ["word"],
  tenantId: ["word"],
  accessKey: ["word"],
  secretKey: ["word"],
  sessionToken: ["word"],
};

/** Formats of entries with other names, which `secretRef.key` chooses. */
const CHOSEN_FORMATS: readonly ValueFormat[] = [
  ...(["authorization", "sentKey", "clientSecret", "passwords", "googleCredentials"] as const),
  ...(["privateKey", "authorities"] as const),
];

/** Problems of an entry by the format that it does not have. */
export type EntryProblems = Readonly<Partial<Record<SecretContent, string>>>;

/** An entry that is not readable as an API key. */
export interface UnreadableKey {
  readonly key: string;
  /** Completes `"KEY" of Secret "NAME" ...`. */
  readonly problem: string;
}

/** Facts about the entries of a Secret, without their values: plain data of bounded size. */
export interface SecretContents {
  /** Problems of the entries that are read by their names. */
  readonly entries: Readonly<Record<string, EntryProblems>>;
  /** Number of all entries. */
  readonly count: number;
  /** Entries that are not readable as API keys: their number, and the first of them. */
  readonly unreadable: { readonly count: number; readonly first: readonly UnreadableKey[] };
}

/** Contents of a Secret of which only the existence is known. */
export const UNKNOWN_CONTENTS: SecretContents = {
  entries: {},
  count: 0,
  unreadable: { count: 0, first: [] },
};

/** Annotation with the contents of a Secret whose values were removed, as JSON. */
export const CONTENTS_ANNOTATION = "gwc.dev/secret-contents";

/** Maximum number of entries of a Secret that is read. */
export const MAX_ENTRIES = 10_000;
/** Number of unreadable keys that are named. */
const NAMED = 3;

/** Maximum number of entries of a Secret of which every name can be chosen; larger Secrets hold API keys. */
const MAX_CHOSEN = 64;

/** Whether something may read an entry by its name, of a Secret with `count` entries. */
export function isReadByName(key: string, count: number): boolean {
  return Object.hasOwn(FORMATS, key) || count <= MAX_CHOSEN;
}

function formatsOf(key: string): readonly ValueFormat[] {
  return Object.hasOwn(FORMATS, key) ? (FORMATS[key] ?? []) : CHOSEN_FORMATS;
}

/**
 * Checks the entries of a Secret for each format that they may have, with the parsers of the data plane. Empty values are
 * placeholders, which are not checked, if `mayBePlaceholders`. The result contains no values.
 */
export function secretContents(
  entries: ReadonlyMap<string, Buffer>,
  mayBePlaceholders: boolean,
): SecretContents {
  const known = [...entries].filter(([, value]) => !mayBePlaceholders || value.length > 0);
  const texts = new Map(known);
  const pair = pairProblem(texts.get("tls.crt"), texts.get("tls.key"));
  const named = known.flatMap(([key, value]): readonly (readonly [string, EntryProblems])[] => {
    const problems = isReadByName(key, entries.size)
      ? problemsOf(formatsOf(key), value.toString("utf8"))
      : {};
    const all = { ...problems, ...(key === "tls.crt" && pair) };
    return Object.keys(all).length === 0 ? [] : [[key, all]];
  });
  const unreadable = entries.size > MAX_ENTRIES ? [] : known.flatMap(unreadableKey);
  return {
    entries: Object.fromEntries(named),
    count: entries.size,
    unreadable: { count: unreadable.length, first: unreadable.slice(0, NAMED) },
  };
}

/** Parsers of each format; they throw an Error whose message completes `"KEY" of Secret "NAME" ...`. */
const READERS: Readonly<Record<ValueFormat, (text: string) => unknown>> = {
  passwords: (text) => new PasswordFile(text),
  authorization: readAuthorization,
  word: visibleWord,
  clientSecret: readClientSecret,
  sentKey: readSentKey,
  googleCredentials: googleCredentialKind,
  privateKey: (text) => readPrivateKey(text),
  authorities: (text) => {
    const found = pemCertificates(text);
    if (found.kind === "problem") throw new Error(found.problem);
  },
};

function problemsOf(formats: readonly ValueFormat[], text: string): EntryProblems {
  const found = formats.flatMap((content) => {
    const problem = problemOf(() => READERS[content](text));
    return problem === undefined ? [] : [[content, problem] as const];
  });
  return Object.fromEntries(found);
}

function unreadableKey([key, value]: readonly [string, Buffer]): readonly UnreadableKey[] {
  const problem = problemOf(() => readApiKeyEntry(value.toString("utf8")));
  return problem === undefined ? [] : [{ key, problem }];
}

/** Checks a certificate against its key; a mismatch is attributed to the certificate. */
function pairProblem(cert: Buffer | undefined, key: Buffer | undefined): EntryProblems {
  // A missing one is reported elsewhere.
  if (cert === undefined || key === undefined) return {};
  const problem = problemOf(() => readCertificatePair(cert, key, undefined));
  return problem === undefined ? {} : { certificate: `is unusable: ${problem}` };
}

function problemOf(read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
