/**
 * Resources that a controller sends to the data planes of a Gateway, by type URL of the discovery protocol. Code is addressed
 * by digest: a module never changes, and a generation lists its modules. Everything else is data, which changes without new
 * code.
 */
export const resourceTypes = {
  /** A variable of the process, by name: a credential that the configuration contains literally. UTF-8. */
  variable: "type.googleapis.com/gwc.dev.Variable",
  /** A Secret, by name: a JSON object of its entries in base64. */
  secret: "type.googleapis.com/gwc.dev.Secret",
  /** A ConfigMap, in the same form. */
  configMap: "type.googleapis.com/gwc.dev.ConfigMap",
  /**
   * The pods of a Service's port, by `NAMESPACE/NAME:PORT`, or of a pool by `pool/NAMESPACE/NAME:PORT`: a JSON list of
   * `[address, port]`, with `NAMESPACE/ACCOUNT` for pods in the Gateway's mesh.
   */
  endpoints: "type.googleapis.com/gwc.dev.Endpoints",
  /** A generated module, by the SHA-256 of its content (hex). UTF-8. */
  module: "type.googleapis.com/gwc.dev.Module",
  /** The served generation, by the Gateway's name: a JSON `SignedGeneration`. */
  generation: "type.googleapis.com/gwc.dev.Generation",
} as const;

/** URL of a resource type. */
export type ResourceUrl = (typeof resourceTypes)[keyof typeof resourceTypes];

/** A generation with its signature. */
export interface SignedGeneration {
  /** `Generation` as JSON. */
  readonly generation: string;
  /** Signature of that string by the controller's key (Ed25519), in base64. */
  readonly signature: string;
}

/** The modules of one gateway. */
export interface Generation {
  /** `NAMESPACE/NAME` of the only Gateway that may use it. */
  readonly gateway: string;
  /** Version of gwc and digest of the configuration, as reported by the gateway. */
  readonly version: string;
  readonly configDigest: string;
  /** Digest of the runtime that the modules require. */
  readonly runtime: string;
  readonly modules: readonly ModuleReference[];
}

/** A port of a generation that a data plane cannot open: it serves the others. */
export interface UnopenedPort {
  readonly port: number;
  readonly problem: string;
}

/** A module of a generation. */
export interface ModuleReference {
  /** Path below the folder of the generated code: `routes/tools.ts`. */
  readonly path: string;
  readonly sha256: string;
}

/** A resource with its version. */
export interface DiscoveryResource {
  readonly version: string;
  readonly value: Uint8Array;
}

/** The resources of a type, by name. */
export type ResourceSet = ReadonlyMap<string, DiscoveryResource>;
