/** Hint for CONNECT on listeners. */
export const TUNNELS_INSTEAD =
  "clients open tunnels to a `dynamic` backend with `connect: {}`, on any HTTP listener";

/** Hint for tunnels of a mesh without sidecars. */
export const HBONE_INSTEAD =
  "end tunnels before the gateway; in a cluster, give pods sidecars and GatewayParameters `mesh: {}`";

/** Hint for certificates of the SPIFFE Workload API in manifests. */
export const SPIFFE_IN_CLUSTER =
  "write `mtlsCertificateRef` and `caCertificateRefs` of Secrets that cert-manager renews";

/** Hint for certificates of the SPIFFE Workload API. */
export const SPIFFE_INSTEAD =
  "let spiffe-helper write `cert`, `key` and `root` as files, which are read again when they change";
