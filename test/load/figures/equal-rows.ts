/** Whether two exports of dead letters hold the same rows, by DuckDB's word. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { providePython } from "../../e2e/python.ts";

const run = promisify(execFile);
const DUCKDB = "duckdb==2.0.0";

export interface EqualRows {
  readonly rows: number;
  /** Those that are alike in every column. */
  readonly equal: number;
}

/** Every cell as the text that CSV has of it: a time to the millisecond, null as null. */
const PROGRAM = `import duckdb, json, sys
csv, parquet = sys.argv[1:]
columns = duckdb.sql(f"DESCRIBE SELECT * FROM '{parquet}'").fetchall()
text = lambda name, kind: f"strftime(p.{name}, '%Y-%m-%dT%H:%M:%S.%gZ')" if kind.startswith("TIMESTAMP") else f"p.{name}::VARCHAR"
alike = " AND ".join(f"c.{name} IS NOT DISTINCT FROM {text(name, kind)}" for name, kind, *_ in columns)
rows, equal = duckdb.sql(f"""SELECT count(*), count(*) FILTER (WHERE {alike})
FROM read_csv('{csv}', all_varchar = true, nullstr = '', allow_quoted_nulls = false, header = true, quote = '"', escape = '"', max_line_size = 10000000) AS c
POSITIONAL JOIN '{parquet}' AS p""").fetchall()[0]
print(json.dumps({"rows": rows, "equal": equal}))`;

/** Of two files with rows in the same order. */
export async function equalRows(
  csvPath: string,
  parquetPath: string,
): Promise<EqualRows | { readonly missing: string }> {
  const python = await providePython([DUCKDB]);
  if ("missing" in python) return python;
  const { stdout } = await run(python.path, ["-c", PROGRAM, csvPath, parquetPath]);
  return JSON.parse(stdout) as EqualRows;
}
