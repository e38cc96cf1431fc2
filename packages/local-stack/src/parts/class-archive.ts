/**
 * Keeps classes in the form that Java gives them when it parses and checks them (class data sharing): later starts map
 * the file into memory, and a broker then starts with half the processor time. Java writes the file at the end of a
 * process. It passes over a file of another Java or of other jars.
 */

/** A process's use of such a file: it starts from the file, or writes the file at its end. */
export type ClassArchive = { readonly use: string } | { readonly make: string };

/** The arguments of `java`. */
export function classArchiveArguments(archive: ClassArchive | undefined): readonly string[] {
  if (archive === undefined) return [];
  // Java would write some hundred lines into the process's log about classes that it leaves out.
  return [
    "use" in archive ? `-XX:SharedArchiveFile=${archive.use}` : `-XX:ArchiveClassesAtExit=${archive.make}`,
    "-Xlog:cds=off",
    "-Xlog:cds+dynamic=off",
  ];
}
