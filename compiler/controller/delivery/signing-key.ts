import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { SignedGeneration } from "../../../runtime/discovery/resource-types.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { recordOf, textField } from "../kubernetes/json-fields.ts";
import { errorText } from "../kubernetes/reflector.ts";

/** Signs what data planes are to run. */
export interface Signer {
  /** Public key (Ed25519) by which data planes know it, as SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  readonly signed: (generation: string) => SignedGeneration;
}

/** The Secret of the controller's namespace that all replicas have their key of. */
const SECRET = "gwc-signing-key";
/** Its entry: PKCS #8 in PEM. */
const ENTRY = "key.pem";
/** Milliseconds between two attempts. */
const ASK_AGAIN = 1_000;

/** The signer of a private key in PEM. */
export function signerOf(pem: string): Signer {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== "ed25519") throw new Error("it is no key of Ed25519");
  const spki = createPublicKey(key).export({ type: "spki", format: "der" });
  return {
    publicKey: spki.toString("base64"),
    signed: (generation) => ({
      generation,
      signature: sign(undefined, Buffer.from(generation), key).toString("base64"),
    }),
  };
}

/**
 * Returns the signer of all replicas; the first replica creates its key. Resolves when the API server has confirmed the
 * key; rejects if it is not a key.
 */
export async function sharedSigner(
  api: ApiServer,
  namespace: string,
  warn: (message: string) => void,
): Promise<Signer> {
  for (;;) {
    let pem: string | undefined;
    try {
      pem = (await readKey(api, namespace)) ?? (await makeKey(api, namespace));
    } catch (error) {
      warn(`the Secret ${namespace}/${SECRET}: ${errorText(error)}`);
    }
    if (pem !== undefined) return signerOf(pem);
    await pause(ASK_AGAIN);
  }
}

async function readKey(api: ApiServer, namespace: string): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${namespace}/secrets/${SECRET}`;
  const { status, body } = await api.request({ method: "GET", path });
  if (status === 404) return undefined;
  if (status !== 200) throw new Error(`status ${status}`);
  const entry = textField(recordOf(body)?.data, ENTRY) ?? "";
  return Buffer.from(entry, "base64").toString("utf8");
}

/** Undefined: another replica was faster. */
async function makeKey(api: ApiServer, namespace: string): Promise<string | undefined> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const { status } = await api.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      ...{ apiVersion: "v1", kind: "Secret", metadata: { name: SECRET, namespace } },
      stringData: { [ENTRY]: pem },
    },
  });
  if (status === 409) return undefined;
  if (status >= 300) throw new Error(`status ${status}`);
  return pem;
}
