/** What the resources need besides the program. */
export interface KubernetesSettings {
  /** The image that holds the bundle; undefined: a ConfigMap carries it. */
  readonly image: string | undefined;
  /** The bundle, compressed (gzip) and in base64; undefined: the image holds it. */
  readonly bundle: string | undefined;
  /** SHA-256 of the bundle, hex: a new bundle makes new pods. */
  readonly digest: string;
  /** The controller that sends the code; absent: the pods have it. */
  readonly agent?: AgentPodSettings;
}

/** How pods find the controller that sends them what they serve. */
export interface AgentPodSettings {
  /** When the image is pulled, unless the Gateway's parameters say so; undefined: as Kubernetes does. */
  readonly pullPolicy: string | undefined;
  /** Its URL. */
  readonly address: string;
  /** The Gateway's own name: that of its resources may be shorter. */
  readonly gateway: string;
  /** For whom the token is made that pods show. */
  readonly audience: string;
  /** PEM of the authority of its certificate; undefined: without TLS. */
  readonly authority: string | undefined;
  /** The public key whose owner signs what pods run (Ed25519, SubjectPublicKeyInfo in base64). */
  readonly signer: string;
}
