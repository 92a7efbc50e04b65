/** Formats of images that Converse takes, by media type. */
export const IMAGE_FORMATS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/webp": "webp",
};

/** Formats of documents that Converse takes, by media type. */
export const DOCUMENT_FORMATS: Readonly<Record<string, string>> = {
  "application/pdf": "pdf",
  "text/csv": "csv",
  "application/msword": "doc",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "text/html": "html",
  "text/plain": "txt",
  "text/markdown": "md",
};

/** Media types by format. */
export const MEDIA_TYPES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({ ...IMAGE_FORMATS, ...DOCUMENT_FORMATS }).map(([type, format]) => [format, type]),
);
