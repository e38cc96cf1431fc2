/**
 * Classes as Java holds them once they are parsed and checked, in a file that its next starts map (class data sharing):
 * a broker starts with half the processor time. Java makes the file when a process ends, and passes over one that is of
 * another Java or of other jars.
 */

/** What a process does with such a file: start from it, or leave it at its end. */
export type ClassArchive = { readonly use: string } | { readonly make: string };

/** The arguments of `java`. */
export function classArchiveArguments(archive: ClassArchive | undefined): readonly string[] {
  if (archive === undefined) return [];
  // What it leaves out it would tell in the process's log, some hundred lines.
  return [
    "use" in archive ? `-XX:SharedArchiveFile=${archive.use}` : `-XX:ArchiveClassesAtExit=${archive.make}`,
    "-Xlog:cds=off",
    "-Xlog:cds+dynamic=off",
  ];
}
