import { choice, object, unsupportedBut } from "../schema/schema.ts";

const SOURCE = "agentgateway.dev/tls-certificate-source";
/** CEL condition that a listener serves the gateway's own identity. */
export const OF_IDENTITY = `has(self.options) && '${SOURCE}' in self.options && self.options['${SOURCE}'] == 'SPIFFE'`;

/** TLS options of a listener: keys of gwc, and known ones of other projects that cannot be built. */
export const tlsOptions = object(
  {
    "gwc.dev/min-tls-version": choice("Minimum TLS version of the listener.", ["1.2", "1.3"]),
    "gwc.dev/max-tls-version": choice("Maximum TLS version of the listener.", ["1.2", "1.3"]),
    [SOURCE]: choice(
      "Source of the certificate, instead of `certificateRefs`: the gateway's identity of the SPIFFE Workload API (`spiffe` " +
        "of its parameters). Clients must be workloads of its trust domain.",
      ["SPIFFE"],
      {
        unsupportedValues: { DYNAMIC_CA: "certificates that the gateway signs itself" },
        misplacedFieldHints: {
          DYNAMIC_CA:
            "issue the certificates with cert-manager, and name their Secrets in certificateRefs",
        },
      },
    ),
    "agentgateway.dev/verify-subject-alt-names": unsupportedBut(
      "names of client certificates as an option",
      'write a rule of frontend.networkAuthorization: "example.com" in source.subjectAltNames',
    ),
    "agentgateway.dev/verify-certificate-hash": unsupportedBut(
      "hashes of client certificates as an option",
      "let an authority of your own sign these certificates, and name it in tls.frontend.default.validation",
    ),
    "gateway.istio.io/tls-terminate-mode": unsupportedBut(
      "certificates of the mesh for clients",
      "name a Secret with a certificate in certificateRefs",
    ),
  },
  {
    description:
      "Versions of TLS that override those of `frontend.tls`, and the source of the certificate.",
  },
);

/** Whether a listener serves the gateway's own identity. */
export function isSpiffeIdentity(options: unknown): boolean {
  if (typeof options !== "object" || options === null || !(SOURCE in options)) return false;
  return options[SOURCE] === "SPIFFE";
}
