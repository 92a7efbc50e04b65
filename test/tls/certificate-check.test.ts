import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Finding } from "../../compiler/diagnostics/report/findings.ts";
import { realHost } from "../../compiler/host.ts";
import { checkInput } from "../../compiler/inspect/check-input.ts";
import { makeCertificate } from "../harness/certificate.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { program } from "../harness/tool.ts";

it("a good pair and its authorities have no diagnostics", () => {
  const folder = folderWithPairs();
  expect(check(folder, { cert: "a.pem", key: "a.key", root: "b.pem" })).toEqual([]);
});

it("a key and the certificate of another pair are refused, once for the file", () => {
  const folder = folderWithPairs();
  expect(check(folder, { cert: "a.pem", key: "b.key" })).toEqual([
    'error[other-key] 6 b.key: "b.key" is not the private key of the certificate in "a.pem"',
  ]);
});

it("a chain whose first certificate is not the server's own is refused", () => {
  const folder = folderWithPairs();
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  writeFileSync(join(folder, "chain.pem"), read("b.pem") + read("a.pem"));
  expect(check(folder, { cert: "chain.pem", key: "a.key" })).toEqual([
    'error[other-key] 6 a.key: "a.key" is not the private key of the certificate in "chain.pem"',
  ]);
});

it("certificate and key in each other's place are refused", () => {
  const folder = folderWithPairs();
  expect(check(folder, { cert: "a.key", key: "a.pem" })).toEqual([
    'error[unusable-pem] 6 a.key: "a.key" holds no certificate',
    'error[unusable-pem] 6 a.pem: "a.pem" contains no private key',
  ]);
});

it("a DER certificate, a truncated one and other text are refused", () => {
  const folder = folderWithPairs();
  const at = (name: string) => join(folder, name);
  execFileSync(program("openssl"), [
    "x509",
    "-in",
    at("a.pem"),
    "-outform",
    "der",
    "-out",
    at("a.der"),
  ]);
  writeFileSync(at("half.pem"), readFileSync(at("a.pem"), "utf8").slice(0, 300));
  writeFileSync(at("broken.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  const said = (cert: string) => check(folder, { cert, key: "a.key" });
  expect(said("a.der")).toEqual(['error[unusable-pem] 6 a.der: "a.der" holds no certificate']);
  expect(said("half.pem")).toEqual([
    'error[unusable-pem] 6 half.pem: "half.pem" ends within a certificate',
  ]);
  expect(said("broken.pem")).toEqual([
    'error[unusable-pem] 6 broken.pem: "broken.pem" holds a certificate that can\'t be read',
  ]);
});

it("a certificate request instead of the certificate is distinguished from a broken file", () => {
  const folder = folderWithPairs();
  const at = (name: string) => join(folder, name);
  const request = ["req", "-new", "-key", at("a.key"), "-subj", "/CN=a", "-out", at("a.csr")];
  execFileSync(program("openssl"), request, { stdio: "ignore" });
  writeFileSync(at("half.pem"), readFileSync(at("a.pem"), "utf8").slice(0, 300));
  const hint = (cert: string) => findingsOf(folder, { cert, key: "a.key" })[0]?.hint;
  expect(hint("a.csr")).toBe("not a certificate; give the certificate file");
  expect(hint("half.pem")).toBe("write the complete file again");
});

it("an encrypted key and half a key are refused", () => {
  const folder = folderWithPairs();
  const at = (name: string) => join(folder, name);
  const encrypt = ["pkey", "-in", at("a.key"), "-aes128", "-passout", "pass:x"];
  execFileSync(program("openssl"), [...encrypt, "-out", at("locked.key")]);
  writeFileSync(at("half.key"), readFileSync(at("a.key"), "utf8").slice(0, 100));
  expect(check(folder, { cert: "a.pem", key: "locked.key" })).toEqual([
    'error[unusable-pem] 6 locked.key: "locked.key" is encrypted, and the gateway cannot ask for its passphrase',
  ]);
  expect(check(folder, { cert: "a.pem", key: "half.key" })).toEqual([
    'error[unusable-pem] 6 half.key: "half.key" contains a private key that cannot be read',
  ]);
});

it("authorities without a certificate are refused", () => {
  const folder = folderWithPairs();
  expect(check(folder, { cert: "a.pem", key: "a.key", root: "b.key" })).toEqual([
    'error[unusable-pem] 6 b.key: "b.key" holds no certificate',
  ]);
});

it("a certificate that has expired is a warning, and one that soon will a note", () => {
  const folder = folderWithPairs();
  makeCertificate(folder, "soon", { days: "2" });
  makeCertificate(folder, "ca", { days: "30" });
  makeCertificate(folder, "past", { signer: "ca", days: "-1" });
  expect(check(folder, { cert: "soon.pem", key: "soon.key" })).toEqual([
    `note[certificate-expires] 6 soon.pem: the certificate in "soon.pem" expires soon, on ${day(2)}`,
  ]);
  expect(check(folder, { cert: "past.pem", key: "past.key", root: "past.pem" })).toEqual([
    `warning[certificate-out-of-date] 6 past.pem: the certificate in "past.pem" expired on ${day(-1)}`,
  ]);
});

it("an old authority next to a new one has no diagnostics", () => {
  const folder = folderWithPairs();
  makeCertificate(folder, "past", { signer: "b", days: "-1" });
  const read = (name: string) => readFileSync(join(folder, name), "utf8");
  writeFileSync(join(folder, "both.pem"), read("past.pem") + read("b.pem"));
  expect(check(folder, { cert: "a.pem", key: "a.key", root: "both.pem" })).toEqual([]);
});

it("files for connections to backends are judged alike", () => {
  const folder = folderWithPairs();
  copyFileSync(join(folder, "a.key"), join(folder, "root.pem"));
  const backendTLS = `{ cert: a.pem, key: b.key, root: root.pem }`;
  const backend = `{ host: "backend.test:443", policies: { backendTLS: ${backendTLS} } }`;
  const text = `binds:
  - port: 3000
    listeners:
      - routes:
          - backends:
              - ${backend}
`;
  expect(shown(text, findings(folder, text))).toEqual([
    'error[other-key] 6 b.key: "b.key" is not the private key of the certificate in "a.pem"',
    'error[unusable-pem] 6 root.pem: "root.pem" holds no certificate',
  ]);
});

/** Two pairs, `a` and `b`, that are good for a month. */
function folderWithPairs(): string {
  const folder = temporaryFolder();
  for (const name of ["a", "b"]) makeCertificate(folder, name, { days: "30" });
  return folder;
}

/** Returns the diagnostics of two listeners with the same files, each with its line and the word at its place. */
function check(folder: string, files: Readonly<Record<string, string>>): readonly string[] {
  return shown(listenersText(files), findingsOf(folder, files));
}

function findingsOf(folder: string, files: Readonly<Record<string, string>>): readonly Finding[] {
  return findings(folder, listenersText(files));
}

function listenersText(files: Readonly<Record<string, string>>): string {
  const tls = Object.entries(files).map(([part, file]) => `${part}: ${file}`);
  const listener = (name: string) => `      - hostname: ${name}.test
        protocol: HTTPS
        tls: { ${tls.join(", ")} }
        routes: [{ policies: { directResponse: { status: 204 } } }]
`;
  return `binds:\n  - port: 3000\n    listeners:\n${listener("one")}${listener("two")}`;
}

function findings(folder: string, text: string): readonly Finding[] {
  const file = join(folder, "gateway.yaml");
  writeFileSync(file, text);
  return checkInput([file], realHost({}), false).findings;
}

function shown(text: string, found: readonly Finding[]): readonly string[] {
  const lines = text.split("\n");
  return found.map(({ severity, code, location: { line, column }, message }) => {
    const [pointed = ""] = /^[\w.]+/.exec(lines[line - 1]?.slice(column - 1) ?? "") ?? [];
    return `${severity}[${code}] ${line} ${pointed}: ${message}`;
  });
}

/** The date in so many days. */
function day(days: number): string {
  return new Date(Date.now() + days * 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
}
