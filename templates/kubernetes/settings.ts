/** What the resources need besides the program. */
export interface KubernetesSettings {
  /** The image that holds the bundle; undefined: a ConfigMap carries it. */
  readonly image: string | undefined;
  /** The bundle, compressed (gzip) and in base64; undefined: the image holds it. */
  readonly bundle: string | undefined;
  /** SHA-256 of the bundle, hex: a new bundle makes new pods. */
  readonly digest: string;
}
