import { boolean, choice, type Infer, list, object, shortText, text } from "../../schema/schema.ts";

/** Type of a valid `acme` of `config`. */
export type AcmeValue = Infer<ReturnType<typeof acmeSchema>>;

/** Returns the schema of the account at an ACME server. */
export function acmeSchema() {
  return object(
    {
      directory: text("URL of the server's directory.", {
        format: "url",
        default: LETS_ENCRYPT,
        maxLength: 2048,
        examples: ["https://acme-staging-v02.api.letsencrypt.org/directory"],
      }),
      email: shortText("Address to which the authority may write.", {
        pattern: "^[^@\\s,<>]+@[^@\\s,<>]+$",
        form: 'an address such as "ops@example.com"',
        examples: ["ops@example.com"],
      }),
      termsOfServiceAgreed: boolean(
        "Whether you agree to the terms of service of the authority. Must be `true`.",
        { examples: [true] },
      ),
      root: text(
        "Path of the authorities (PEM) of the directory's own certificate, for a private server. Those of the system by default.",
      ),
      externalAccount: object(
        {
          keyId: shortText("Identifier of the key."),
          keyFile: text("Path of the file with the key, in base64url as the authority shows it."),
        },
        {
          required: ["keyId", "keyFile"],
          description:
            "Your account at the authority, if it requires one (external account binding).",
        },
      ),
    },
    {
      required: ["termsOfServiceAgreed"],
      description:
        "Account at an ACME server, such as Let's Encrypt, for `tls: { acme: {} }` of listeners. It is registered at the first order. Account and certificates are in `config.store`, or in a file of `GWC_STATE_DIR`.",
      checks: [
        {
          message: '"termsOfServiceAgreed" must be true',
          field: "termsOfServiceAgreed",
          holds: ({ termsOfServiceAgreed }) => termsOfServiceAgreed === true,
          cel: "self.termsOfServiceAgreed",
        },
      ],
    },
  );
}

/** Directory of an account that names none. */
export const LETS_ENCRYPT = "https://acme-v02.api.letsencrypt.org/directory";

/** Returns the schema of `acme` of a listener's `tls`. */
export function acmeUseSchema() {
  return object(
    {
      names: list(shortText("A host name.", { format: "hostname" }), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
        description:
          "Names of the certificate, all of which the listener serves. By default its `hostname`. Names with `*` cannot be ordered.",
        examples: [["shop.example.com", "www.example.com"]],
      }),
      challenge: choice(
        "How the gateway proves that the names are its own: `http-01` with a response on port 80, `tls-alpn-01` with a handshake " +
          "on port 443. By default `http-01` if the gateway has a port without TLS, otherwise `tls-alpn-01`.",
        ["http-01", "tls-alpn-01"],
        {
          unsupportedValues: { "dns-01": "records in DNS" },
          misplacedFieldHints: {
            "dns-01":
              "order the certificate with another program, and write its files as `cert` and `key`",
          },
        },
      ),
    },
    {
      description:
        "Orders the certificate from the ACME server of `config.acme`, and renews it. Until there is one, handshakes are refused.",
    },
  );
}
