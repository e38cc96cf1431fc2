// npm run verify: every word of an exported name stands in docs/glossary.md or in the lists below, so that each thing
// keeps one name. A word counts in all its forms: `deferral` and `deferrals`, `seal` and `sealed`. Words of ours go to
// the glossary, with a meaning; only what any programmer, or any user of Kafka or HTTP, reads without being told goes
// here.
// node scripts/check-glossary.mjs [FOLDER]   The last line says how many names were looked at; the exit code is 1 for a
// stray word.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./bootstrap.mjs";

const CHECKED = "{packages/{contracts,core,kafka},services/{delivery,router}}/src/**/*.ts";

const KAFKA = `
access admin agent alter api assignment broker client cluster compression crc32c earliest group id kafka kafkajs leader log lz4 metadata
murmur2 operation produce fetch prefix property reader replication schema snappy subject tls topic user varint wire zstd avro login mechanism sasl scram
`;
const HTTP = `address authenticate body dns handshake header host loopback request response server socket status url web`;
const PROGRAMMING = `
alias apply array batch box buffer byte bytes cache class classify clock close code codec compare config connect connection
consumer context copied copy count create decode decompress default definition detector digest encode encoder error exchange exporter field
flush format formed frame hash64 hook input interval iso json key kind limit list loading loop make map max member merge meter
metrics min minimum ms name nesting object options order parse pipeline parser part place plan point publish publisher query queue read record registry
resolve resolver result rule run runner schedule search seconds sender service set setting shape spec state step string summary switch system
table task terms text tick time timer timing timestamp to token tracker type undo value version view write writer
`;
const ENGLISH = `
a absent access add after age all and answer answered any as aside attend attention at back be before begin begun behind bound budget by can cause change cost check correct dead deep defer desire
delay describe dial difference draw drawn drop due each enabled end every exist expect fail failure feedback find first fixed follow for
force found free from gauge get grace grant grow has head held hold how ill in incoming ingest is it keep known large last late lazy least left length
letter level line list load locate long look make mask measure message meter miss moment most move next no none not note now obey
of often old omit on only open or out outcome outgoing over own pair patch patient patiently pause place plain previous problem program progress question quick quote raise range
reach ready reason recent recheck refuse remove repeat retire rotate rule same sample seed send sent share short shut side silent since single size skip slow
so span split start static step still stop such take than that the there till timed too trouble unknown unreachable usual verify until up
use wait want watch well when where whole width with within without
`;

/** A word without its ending: `deferrals` and `deferral`, `sealed` and `seal`, `running` and `run` become one. */
function stem(word) {
  let stemmed = word.toLowerCase();
  for (const [ending, instead] of [
    [/ies$/, "y"],
    [/(?<=s|x|ch|sh)es$/, ""],
    [/(?<=[^su])s$/, ""],
    [/(?<=..)(?:ed|ing|able|ly|ness|er|or|en)$/, ""],
    [/([^aeiouls])\1$/, "$1"],
    [/(?<=..)(?:e|y|i)$/, ""],
  ]) {
    stemmed = stemmed.replace(ending, instead);
  }
  return stemmed;
}

const wordsOf = (text) => text.match(/[A-Za-z]+\d*[a-z]*/g) ?? [];

/** The words that the glossary explains: those of its tables' first column, and its verbs. */
function explainedBy(glossary) {
  const firstColumn = glossary.split("\n").flatMap((line) => /^\| ([^|]+) \|/.exec(line)?.[1] ?? []);
  const verbs = [...glossary.matchAll(/`([a-zX]+)`/g)].map(([, verb]) => verb.replaceAll("X", " "));
  return [...firstColumn, ...verbs].flatMap((text) => wordsOf(text));
}

const EXPORTED = /^export (?:async |abstract )*(?:function\*?|class|interface|type|const|let) (\w+)/gm;

/** The words of a name: of `isTopicMissing`, `MAX_ASIDE` or `LogAPIReader`. */
function nameWords(name) {
  const spaced = name.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
  return spaced.split(/[ _]+/).filter((word) => word !== "");
}

const folder = process.argv[2] ?? root;
const glossary = readFileSync(join(folder, "docs/glossary.md"), "utf8");
const known = new Set(
  [...explainedBy(glossary), ...wordsOf([KAFKA, HTTP, PROGRAMMING, ENGLISH].join(" "))].map((word) => stem(word)),
);
let names = 0;
let strays = 0;
for (const path of globSync(CHECKED, { cwd: folder }).sort()) {
  if (path.endsWith(".test.ts")) continue;
  for (const [, name] of readFileSync(join(folder, path), "utf8").matchAll(EXPORTED)) {
    names += 1;
    for (const word of nameWords(name).filter((each) => !known.has(stem(each)))) {
      strays += 1;
      console.error(`${path}: "${word}" of ${name} is not in docs/glossary.md`);
    }
  }
}
console.log(`${names} exported names looked at`);
process.exit(strays === 0 && names > 0 ? 0 : 1);
