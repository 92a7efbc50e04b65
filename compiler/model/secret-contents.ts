import { readApiKeyEntry } from "../../runtime/contents/api-key-entry.ts";
import { readAuthorization } from "../../runtime/contents/authorization-value.ts";
import { readClientSecret } from "../../runtime/contents/client-secret.ts";
import { PasswordFile } from "../../runtime/contents/password-file.ts";
import { visibleWord } from "../../runtime/contents/visible-word.ts";
import { pemCertificates } from "../../runtime/tls/ca-certificates.ts";
import { readCertificatePair } from "../../runtime/tls/certificate-pair.ts";

/** Formats of an entry of a Secret. */
export type SecretContent =
  | "passwords"
  | "apiKey"
  | "authorization"
  | "word"
  | "clientSecret"
  | "certificate"
  | "authorities";

/** Problems of an entry by the format that it does not have. */
export type EntryProblems = Readonly<Partial<Record<SecretContent, string>>>;

/** Problems of the entries of a Secret, by key. */
export type SecretProblems = Readonly<Record<string, EntryProblems>>;

/** Annotation with the problems of a Secret whose values were removed, as JSON. */
export const PROBLEMS_ANNOTATION = "gwc.dev/entry-problems";

/**
 * Checks the entries of a Secret for each format that they may have, with the parsers of the data plane. The result
 * contains no values.
 */
export function secretProblems(entries: ReadonlyMap<string, Buffer>): SecretProblems {
  const pair = pairProblem(entries.get("tls.crt"), entries.get("tls.key"));
  const found = [...entries].map(([key, value]) => {
    return [
      key,
      { ...problemsOf(value.toString("utf8")), ...(key === "tls.crt" && pair) },
    ] as const;
  });
  return Object.fromEntries(found.filter(([, problems]) => Object.keys(problems).length > 0));
}

/** Parsers of each format; they throw an Error whose message completes `"KEY" of Secret "NAME" ...`. */
const READERS: Readonly<Record<Exclude<SecretContent, "certificate">, (text: string) => unknown>> =
  {
    passwords: (text) => new PasswordFile(text),
    apiKey: readApiKeyEntry,
    authorization: readAuthorization,
    word: visibleWord,
    clientSecret: readClientSecret,
    authorities: (text) => {
      const found = pemCertificates(text);
      if (found.kind === "problem") throw new Error(found.problem);
    },
  };

function problemsOf(text: string): EntryProblems {
  const found = Object.entries(READERS).flatMap(([content, read]) => {
    const problem = problemOf(() => read(text));
    return problem === undefined ? [] : [[content, problem] as const];
  });
  return Object.fromEntries(found);
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
