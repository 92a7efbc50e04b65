import type { SigningAlgorithm } from "../../../runtime/contents/private-key.ts";
import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import type { SecretContext } from "../../model/literal-secrets.ts";
import type {
  ExchangeClientConfig,
  ExchangeClientNode,
  SignerConfig,
  SignerNode,
} from "../../model/token-exchange.ts";
import {
  choice,
  type Infer,
  object,
  shortText,
  text,
  type ValueCheck,
} from "../../schema/schema.ts";
import { credentialSchema, ownValue, readSecretValue } from "./sent-credentials.ts";
import type { FileLookup } from "./tls-files.ts";

const ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384"] as const;
const DEFAULT_ALGORITHM: SigningAlgorithm = "RS256";

/** Returns the schemas of the fields of a signed token that both forms have. */
export function signerFields() {
  return {
    alg: choice(
      "Signature algorithm. The key must fit: RSA, or EC with the curve of the algorithm.",
      ALGORITHMS,
      {
        default: DEFAULT_ALGORITHM,
      },
    ),
    kid: shortText("Key ID in the header of the token."),
  };
}

/** Returns the schema of an algorithm that may be absent. */
export function signingAlgorithm(description: string) {
  return choice(description, ALGORITHMS);
}

/** Returns the schema of a private key in a file. */
export function signingKeySchema() {
  return credentialSchema(
    "Private key (PEM, RSA or EC): `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
    16_384,
  );
}

/** Reads the fields of a signed token. */
export function readSigner(
  { alg = DEFAULT_ALGORITHM, kid }: Infer<ReturnType<typeof signerSchema>>,
  key: SignerConfig["key"],
): SignerConfig {
  return { key, algorithm: alg, keyId: kid };
}

function signerSchema() {
  return object(signerFields());
}

/** Field of another form of client authentication. */
function ofMethod(
  fields: readonly string[],
  isWanted: (method: unknown) => boolean,
): readonly ValueCheck[] {
  return fields.map((field) => ({
    message: `"${field}" requires method: privateKeyJwt`,
    field,
    holds: (value) => value[field] === undefined || isWanted(value.method),
    cel: `!has(self.${field}) || (has(self.method) && self.method == 'privateKeyJwt')`,
  }));
}

const OF_ASSERTIONS = [
  ...["signingKey", "alg", "kid", "assertionAudience", "certificate", "certificateHeader"],
];

/** Returns the schema of the header of assertions that shows a certificate. */
export function certificateHeaderSchema() {
  return choice(
    "Header of assertions that shows the certificate: the whole chain (`x5c`), or the digest of the first one (`x5t#S256`).",
    CERTIFICATE_HEADERS,
  );
}

const CERTIFICATE_HEADERS = ["x5c", "x5t#S256"] as const;

/** Returns the schema of `clientAuth` in a file. */
export function clientAuthSchema() {
  return object(
    {
      clientId: shortText("Client id of the gateway.", { readAtStart: true }),
      clientSecret: credentialSchema(
        "Client secret of the gateway, as `${NAME}`, or `{file: PATH}`.",
      ),
      method: choice(
        "How the gateway authenticates: with its secret in a header or in the form, or with a JWT that it signs (RFC 7523). `clientSecretPost` without a secret only sends the client id.",
        ["clientSecretBasic", "clientSecretPost", "privateKeyJwt"],
        { default: "clientSecretBasic" },
      ),
      signingKey: signingKeySchema(),
      ...signerFields(),
      assertionAudience: text("Audience of the assertion, usually the URL of the token endpoint.", {
        maxLength: 1024,
        readAtStart: true,
      }),
      certificate: credentialSchema(
        "Chain of certificates (PEM) for the key, its own first: `${NAME}`, or `{file: PATH}`, which is read at start and again whenever it changes.",
        65_536,
      ),
      certificateHeader: certificateHeaderSchema(),
    },
    {
      required: ["clientId"],
      checks: [
        ...ofMethod(OF_ASSERTIONS, (method) => method === "privateKeyJwt"),
        {
          message: '"certificate" and "certificateHeader" require each other',
          holds: ({ certificate, certificateHeader }) =>
            (certificate === undefined) === (certificateHeader === undefined),
          cel: "has(self.certificate) == has(self.certificateHeader)",
        },
        {
          message:
            'method: privateKeyJwt requires "signingKey" and "assertionAudience", and no "clientSecret"',
          holds: ({ method, signingKey, assertionAudience, clientSecret }) =>
            method !== "privateKeyJwt" ||
            (signingKey !== undefined &&
              assertionAudience !== undefined &&
              clientSecret === undefined),
          cel: "!has(self.method) || self.method != 'privateKeyJwt' || (has(self.signingKey) && has(self.assertionAudience) && !has(self.clientSecret))",
        },
        {
          message:
            '"clientSecret" is required, except with method: clientSecretPost or privateKeyJwt',
          holds: ({ method, clientSecret }) =>
            clientSecret !== undefined ||
            method === "clientSecretPost" ||
            method === "privateKeyJwt",
          cel: "has(self.clientSecret) || (has(self.method) && self.method != 'clientSecretBasic')",
        },
      ],
      description: "Client credentials of the gateway at the authorization server.",
      examples: [{ clientId: "gateway", clientSecret: "${CLIENT_SECRET}" }],
    },
  );
}

/** Reads `clientAuth` of a file. */
export function readClientAuth(
  value: Infer<ReturnType<typeof clientAuthSchema>> | undefined,
  origin: Origin,
): ExchangeClientConfig | undefined {
  if (value === undefined) return undefined;
  const { clientId, clientSecret, method, signingKey, assertionAudience: audience } = value;
  if (signingKey !== undefined && audience !== undefined) {
    const key = readSecretValue(signingKey, childOf(origin, "signingKey"));
    const { certificate: chain, certificateHeader: header } = value;
    const certificate = chain &&
      header && { header, chain: readSecretValue(chain, childOf(origin, "certificate")) };
    const signer = { ...readSigner(value, key), ...(certificate && { certificate }) };
    return { kind: "assertion", clientId, signer, audience };
  }
  if (clientSecret === undefined) return { kind: "public", clientId };
  const secret = readSecretValue(clientSecret, childOf(origin, "clientSecret"));
  const isPost = method === "clientSecretPost";
  return { kind: "secret", clientId, secret, method: isPost ? method : "clientSecretBasic" };
}

/** Returns the client without literal secrets. */
export function resolveClient(
  client: ExchangeClientConfig,
  context: FileLookup & SecretContext,
): ExchangeClientNode {
  switch (client.kind) {
    case "public":
      return client;
    case "secret":
      return { ...client, secret: ownValue(client.secret, context) };
    case "assertion":
      return { ...client, signer: resolveSigner(client.signer, context) };
  }
}

/** Returns a signer without literal secrets. */
export function resolveSigner(
  { key, certificate, ...signer }: SignerConfig,
  context: FileLookup & SecretContext,
): SignerNode {
  return {
    ...signer,
    key: ownValue(key, context),
    ...(certificate && {
      certificate: { ...certificate, chain: ownValue(certificate.chain, context) },
    }),
  };
}
