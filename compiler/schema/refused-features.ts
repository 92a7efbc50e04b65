/** Hint for CONNECT on listeners. */
export const TUNNELS_INSTEAD =
  "clients open tunnels to a `dynamic` backend with `connect: {}`, on any HTTP listener";

/** Hint for tunnels of a mesh without sidecars. */
export const HBONE_INSTEAD =
  "end tunnels before the gateway; in a cluster, give pods sidecars and GatewayParameters `mesh: {}`";

/** Hint for Services of a mesh, which a file cannot resolve. */
export const SERVICE_INSTEAD = "write the address of the server: host: NAME:PORT";

/** Hint for orders of certificates in manifests. */
export const ACME_INSTEAD =
  "let cert-manager order the certificate: annotate the Gateway with cert-manager.io/cluster-issuer, and name the Secret in certificateRefs";
