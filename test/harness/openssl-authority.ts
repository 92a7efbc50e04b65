import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { makeCertificate } from "./certificate.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { program } from "./tool.ts";

/** An authority of certificates that are valid for seconds instead of days, and named as asked, whatever the request says. */
export class OpensslAuthority {
  readonly folder = temporaryFolder();
  #files = 0;

  constructor() {
    makeCertificate(this.folder, "root");
    const settings =
      "database=index.txt\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nrand_serial=yes\nunique_subject=no\n";
    this.#write("ca.cnf", `[ca]\ndefault_ca=d\n[d]\n${settings}[p]\norganizationName=optional\n`);
    this.#write("index.txt", "");
  }

  /** Path of its own certificate. */
  get root(): string {
    return path.join(this.folder, "root.pem");
  }

  get rootText(): string {
    return readFileSync(this.root, "utf8");
  }

  /** Signs a request; `names` as openssl has them, such as `URI:spiffe://example.org/a`. */
  async sign(csr: string, names: string, seconds: number): Promise<string> {
    this.#files += 1;
    const name = `issued-${this.#files}`;
    const [request, extensions, out] = [`${name}.csr`, `${name}.ext`, `${name}.pem`];
    this.#write(request, csr);
    this.#write(extensions, `subjectAltName=critical,${names}\n`);
    await promisify(execFile)(
      program("openssl"),
      [
        ...["ca", "-batch", "-notext", "-config", "ca.cnf", "-subj", "/O=mesh"],
        ...["-cert", "root.pem", "-keyfile", "root.key", "-in", request, "-out", out],
        ...["-extfile", extensions, "-startdate", utc(-60), "-enddate", utc(seconds)],
      ],
      { cwd: this.folder },
    );
    return readFileSync(path.join(this.folder, out), "utf8");
  }

  /** Makes a key of its own, and a certificate for it. */
  async issue(names: string, seconds = 86_400): Promise<IssuedPair> {
    this.#files += 1;
    const name = path.join(this.folder, `key-${this.#files}`);
    await promisify(execFile)(program("openssl"), [
      ...["req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
      ...["-subj", "/O=mesh", "-keyout", `${name}.key`, "-out", `${name}.csr`],
    ]);
    const cert = await this.sign(readFileSync(`${name}.csr`, "utf8"), names, seconds);
    return { cert, key: readFileSync(`${name}.key`, "utf8"), ca: this.rootText };
  }

  #write(name: string, text: string): void {
    writeFileSync(path.join(this.folder, name), text);
  }
}

/** A certificate with its key and its authority, PEM. */
export interface IssuedPair {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** A moment so many seconds from now, as openssl has it. */
function utc(seconds: number): string {
  const text = new Date(Date.now() + seconds * 1000).toISOString();
  return `${text.replace(/[-:T]/g, "").slice(0, 14)}Z`;
}
