import { choice, list } from "./schema.ts";
import { bothForms } from "./two-forms.ts";

/** Groups of the key exchange of TLS, by OpenSSL's names. */
const GROUPS = {
  X25519: "X25519",
  "P-256": "P-256",
  "P-384": "P-384",
  X25519_MLKEM768: "X25519MLKEM768",
} as const;

/** Names of the groups of the key exchange. */
export type KeyExchangeGroup = keyof typeof GROUPS;

const NAMES: readonly KeyExchangeGroup[] = [
  ...(["X25519_MLKEM768", "X25519", "P-256", "P-384"] as const),
];

/** Returns the schemas of groups of the key exchange; `use` says who negotiates them. */
export function keyExchangeSchemas(use: string) {
  return bothForms(
    list(choice("A group.", NAMES), {
      description: `Groups of the key exchange that ${use}, by preference. By default those of OpenSSL, with \`X25519_MLKEM768\` first.`,
    }),
    { file: { minItems: 1, maxItems: NAMES.length, uniqueItems: true } },
  );
}

/** Returns a group as named by OpenSSL. */
export function opensslGroup(group: KeyExchangeGroup): string {
  return GROUPS[group];
}
