import type { SigningAlgorithm } from "../../runtime/contents/private-key.ts";
import { signingAlgorithm, signingKeySchema } from "../backends/parts/client-authentication.ts";
import { ownValue, readSecretValue } from "../backends/parts/sent-credentials.ts";
import { childOf } from "../diagnostics/diagnostic.ts";
import type { MountedFile, Text } from "../model/texts.ts";
import { type Infer, list, object, shortText } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** A published key; `Key` is its private key. */
interface PublicKey<Key> {
  readonly key: Key;
  readonly keyId: string | undefined;
  readonly algorithm: SigningAlgorithm | undefined;
}

/** `publicKeys` as configured. */
interface PublicKeysConfig {
  readonly keys: readonly PublicKey<ReturnType<typeof readSecretValue>>[];
}

/** `publicKeys` without literal secrets. */
interface PublicKeysNode {
  readonly keys: readonly PublicKey<Text | MountedFile>[];
}

const schema = object(
  {
    keys: list(
      object(
        {
          signingKey: signingKeySchema(),
          kid: shortText("Key ID, which tokens of `jwtSign` have in their header."),
          alg: signingAlgorithm("Signature algorithm, which the key must fit; unnamed by default."),
        },
        { required: ["signingKey"] },
      ),
      {
        minItems: 1,
        maxItems: 16,
        description: "Keys: the one that signs, and those that signed before or will sign next.",
      },
    ),
  },
  {
    required: ["keys"],
    description:
      "Responds with the public parts of private keys as a key set (RFC 7517), so that backends can verify tokens of `jwtSign`.",
    examples: [{ keys: [{ signingKey: { file: "signing-key.pem" }, kid: "2026" }] }],
  },
);

/** Publishes the keys of tokens that the gateway signs. */
export const publishedKeys: Policy<
  "publicKeys",
  PublicKeysConfig,
  PublicKeysNode,
  Infer<typeof schema>
> = {
  kind: "publicKeys",
  summary:
    "responds with the public keys of tokens that the gateway signs; the route needs no backend",
  scope: ["route"],
  traits: {
    actsOn: ["requests"],
    isTerminal: () => true,
    ends: () => [{ condition: undefined, isRefusal: false }],
  },
  schema,
  names: ["publicKeys"],
  lowering: {
    merge: "replace",
    lower: ({ keys }, origin) => ({
      keys: keys.map(({ signingKey, kid, alg }, index) => ({
        key: readSecretValue(signingKey, childOf(origin, "keys", index, "signingKey")),
        keyId: kid,
        algorithm: alg,
      })),
    }),
    resolve: ({ keys }, context) => ({
      keys: keys.map(({ key, ...details }) => ({ ...details, key: ownValue(key, context) })),
    }),
  },
};
