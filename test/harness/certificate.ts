import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { program } from "./tool.ts";

/** A certificate authority in a folder, `NAME.pem` and `NAME.key`; `signer` signs, else it signs itself. */
export function makeCertificate(
  folder: string,
  name: string,
  { commonName = name, names = "", signer = "", days = "2", key = "ec" }: CertificateOptions = {},
): void {
  const path = (extension: string) => join(folder, `${name}.${extension}`);
  const algorithm =
    key === "ec"
      ? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
      : ["-newkey", "rsa:2048"];
  const subject = ["-subj", `/CN=${commonName}`, "-nodes", "-keyout", path("key")];
  const extension = names === "" ? [] : ["-addext", `subjectAltName=${names}`];
  const run = (parameters: readonly string[]) =>
    execFileSync(program("openssl"), parameters, { stdio: "ignore" });
  if (signer === "") {
    run([
      "req",
      "-x509",
      ...algorithm,
      ...subject,
      ...extension,
      "-days",
      days,
      "-out",
      path("pem"),
    ]);
    return;
  }
  run(["req", "-new", ...algorithm, ...subject, ...extension, "-out", path("csr")]);
  writeFileSync(path("cnf"), names === "" ? "" : `subjectAltName=${names}\n`);
  const authority = ["-CA", join(folder, `${signer}.pem`), "-CAkey", join(folder, `${signer}.key`)];
  const files = ["-in", path("csr"), "-out", path("pem"), "-extfile", path("cnf")];
  run(["x509", "-req", ...authority, ...files, "-CAcreateserial", "-days", days]);
}

/** Contents of a certificate. */
export interface CertificateOptions {
  readonly commonName?: string;
  /** `DNS:localhost,IP:127.0.0.1` */
  readonly names?: string;
  /** The certificate of the folder that signs it. */
  readonly signer?: string;
  readonly days?: string;
  readonly key?: "ec" | "rsa";
}
