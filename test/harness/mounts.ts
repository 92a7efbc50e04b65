import path from "node:path";

/** The variables of a gateway whose Secrets and ConfigMaps are mounted in `secrets` and `config-maps` of a folder. */
export function mountsIn(folder: string): Readonly<Record<string, string>> {
  return {
    GWC_SECRETS_DIR: path.join(folder, "secrets"),
    GWC_CONFIG_MAPS_DIR: path.join(folder, "config-maps"),
  };
}
