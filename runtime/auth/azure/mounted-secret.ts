import { visibleWord } from "../../contents/visible-word.ts";
import { WatchedFile } from "../../process/watched-file.ts";
import { ExpiringValue } from "../cloud/expiring-value.ts";
import { entraToken } from "./entra-token.ts";

/** The paths of files that say which application of Entra it is, and its secret. */
export interface MountedSecretSettings {
  readonly scope: string;
  readonly files: {
    readonly tenantId: string;
    readonly clientId: string;
    readonly clientSecret: string;
  };
}

/** Tokens of an application whose Secret is mounted: it is read when the gateway starts, and for each token. Throws StartupError. */
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
