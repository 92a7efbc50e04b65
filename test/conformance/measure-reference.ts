import { measureFolder } from "./reference-files.ts";

/** Prints which configurations below the given folders are accepted, and why the others are not. */
for (const folder of process.argv.slice(2)) {
  const files = measureFolder(folder);
  for (const kind of ["standalone", "manifest"] as const) {
    const measured = files.filter((each) => each.kind === kind);
    if (measured.length === 0) continue;
    const refused = measured.filter(({ errors }) => errors.length > 0);
    console.log(
      `${folder}: ${measured.length - refused.length} of ${measured.length} ${kind} files are accepted`,
    );
    for (const { name, errors } of refused)
      console.log(`  ${name}\n${errors.map((error) => `    ${error}`).join("\n")}`);
  }
}
