import { type KeyObject, sign } from "node:crypto";

/**
 * Creates a request for the certificate of a workload (PKCS #10, RFC 2986) as PEM: a key on P-256, no subject, and the SPIFFE
 * ID as the only name. Writing DER of four types takes less code than any library for it.
 */
export function certificateRequest(
  key: { readonly privateKey: KeyObject; readonly publicKey: KeyObject },
  spiffeId: string,
): string {
  const names = sequence(element(URI, Buffer.from(spiffeId, "latin1")));
  // RFC 5280 4.2.1.6: critical if the subject is empty.
  const extension = sequence(oid(SUBJECT_ALT_NAME), TRUE, element(OCTET_STRING, names));
  const asked = sequence(oid(EXTENSION_REQUEST), element(SET, sequence(extension)));
  const info = sequence(
    VERSION_1,
    sequence(),
    key.publicKey.export({ type: "spki", format: "der" }),
    element(ATTRIBUTES, asked),
  );
  const signature = sign("sha256", info, key.privateKey);
  const whole = sequence(
    info,
    sequence(oid(ECDSA_WITH_SHA256)),
    element(BIT_STRING, Buffer.concat([NO_UNUSED_BITS, signature])),
  );
  const lines = whole.toString("base64").match(/.{1,64}/g) ?? [];
  return [
    "-----BEGIN CERTIFICATE REQUEST-----",
    ...lines,
    "-----END CERTIFICATE REQUEST-----",
    "",
  ].join("\n");
}

/** Tags of X.690. */
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OID = 0x06;
const SEQUENCE = 0x30;
const SET = 0x31;
/** `[0]` of a request's attributes, and `[6]` of a name (RFC 5280 4.2.1.6: uniformResourceIdentifier). */
const ATTRIBUTES = 0xa0;
const URI = 0x86;

const VERSION_1 = Buffer.from([0x02, 1, 0]);
const TRUE = Buffer.from([0x01, 1, 0xff]);
const NO_UNUSED_BITS = Buffer.from([0]);

/** 2.5.29.17, 1.2.840.113549.1.9.14 and 1.2.840.10045.4.3.2. */
const SUBJECT_ALT_NAME = "551d11";
const EXTENSION_REQUEST = "2a864886f70d01090e";
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";

function oid(hex: string): Buffer {
  return element(OID, Buffer.from(hex, "hex"));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return element(SEQUENCE, Buffer.concat(parts));
}

function element(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
