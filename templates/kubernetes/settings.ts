/** Settings of the resources besides the program. */
export interface KubernetesSettings {
  /** The image with the bundle; `undefined` if a ConfigMap contains it. */
  readonly image: string | undefined;
  /** The bundle, compressed (gzip) and in base64; `undefined` if the image contains it. */
  readonly bundle: string | undefined;
  /** SHA-256 of the bundle in hex: a new bundle restarts the pods. */
  readonly digest: string;
  /** The controller that sends the code; absent if the pods contain it. */
  readonly agent?: AgentPodSettings;
}

/** Connection of pods to the controller that sends their code. */
export interface AgentPodSettings {
  /** Pull policy of the image, unless the Gateway's parameters set one; `undefined` for the default of Kubernetes. */
  readonly pullPolicy: string | undefined;
  /** URL of the controller. */
  readonly address: string;
  /** Full name of the Gateway; names of its resources may be shortened. */
  readonly gateway: string;
  /** Audience of the pods' tokens. */
  readonly audience: string;
  /** PEM of the CA of its certificate; `undefined` without TLS. */
  readonly authority: string | undefined;
  /** Public key of the signatures on code that pods run (Ed25519, SubjectPublicKeyInfo in base64). */
  readonly signer: string;
}
