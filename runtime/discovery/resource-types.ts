/**
 * What a controller tells the data planes of a Gateway, by the type URLs of the discovery protocol. Code comes by digest:
 * a module never changes, and a generation names the modules it consists of. Everything else is data, which changes
 * without any code being made anew.
 */
export const resourceTypes = {
  /** A variable of the process, by its name: a credential that the configuration writes out. UTF-8. */
  variable: "type.googleapis.com/gwc.dev.Variable",
  /** A Secret that is read, by its name: a JSON object of its entries, each in base64. */
  secret: "type.googleapis.com/gwc.dev.Secret",
  /** A ConfigMap that is read, in the same way. */
  configMap: "type.googleapis.com/gwc.dev.ConfigMap",
  /** The pods of a Service's port, by `NAMESPACE/NAME:PORT`, or of a pool by `pool/NAMESPACE/NAME:PORT`: a JSON list of `[address, port]`, with `NAMESPACE/ACCOUNT` of those in the mesh of the Gateway. */
  endpoints: "type.googleapis.com/gwc.dev.Endpoints",
  /** A generated module, by the SHA-256 of its text (hex). UTF-8. */
  module: "type.googleapis.com/gwc.dev.Module",
  /** What is served, by the Gateway's name: a JSON `SignedGeneration`. */
  generation: "type.googleapis.com/gwc.dev.Generation",
} as const;

/** The URL of a type of resource. */
export type ResourceUrl = (typeof resourceTypes)[keyof typeof resourceTypes];

/** A generation, and who says so. */
export interface SignedGeneration {
  /** A JSON `Generation`. */
  readonly generation: string;
  /** Of that text, by the controller's key (Ed25519), in base64. */
  readonly signature: string;
}

/** Modules that make a gateway together. */
export interface Generation {
  /** `NAMESPACE/NAME`: it is no other Gateway's. */
  readonly gateway: string;
  /** Of gwc, and of the code: what a gateway says of its making. */
  readonly version: string;
  readonly configDigest: string;
  /** The digest of the runtime that the modules are written for: they run with no other one. */
  readonly runtime: string;
  readonly modules: readonly ModuleReference[];
}

/** A module of a generation. */
export interface ModuleReference {
  /** Below the folder of the generated code: `routes/tools.ts`. */
  readonly path: string;
  readonly sha256: string;
}

/** A resource as it is sent. */
export interface DiscoveryResource {
  readonly version: string;
  readonly value: Uint8Array;
}

/** The resources of a type, by name. */
export type ResourceSet = ReadonlyMap<string, DiscoveryResource>;
