import { visibleWord } from "../../contents/visible-word.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import { entraToken } from "./entra-token.ts";

/** Paths of files with an application of Entra and its secret. */
export interface MountedSecretSettings {
  readonly scope: string;
  readonly files: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
}

/**
 * Returns tokens of an application whose Secret is mounted. The files are read at startup, and for each token. Throws
 * StartupError.
 */
export function mountedSecretToken({ scope, files }: MountedSecretSettings): ExpiringValue<string> {
  const tenantId = new WatchedFile(files.tenantId, visibleWord);
  const clientId = new WatchedFile(files.clientId, visibleWord);
  const clientSecret = new WatchedFile(files.clientSecret, visibleWord);
  return new ExpiringValue("token of Azure", () =>
    entraToken(tenantId.current(), {
      client_id: clientId.current(),
      client_secret: clientSecret.current(),
      scope,
    }),
  );
}
