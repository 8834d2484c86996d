import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BSONRegExp, BSONSymbol, Code, Decimal128, type Document, MaxKey, MinKey, Timestamp } from 'mongodb';
import { use } from '../../support/use.ts';
import { answerTo, EMBEDDED, errorOf, storeUnderTest } from './store-under-test.ts';

const ROOT = join(import.meta.dirname, '../../..');

interface Row {
  readonly kind: string;
  readonly name: string;
  readonly file: string;
  readonly text: string;
}

function rows(): Row[] {
  const page = readFileSync(join(ROOT, 'docs/embedded-store-scope.md'), 'utf8');
  return [...page.matchAll(/^\| ([^|]+?) +\| `([^`]+)` +\| (\S+) +\| `([^`]+)` +\|$/gm)].map(
    ([, kind = '', name = '', file = '', text = '']) => ({ kind, name, file, text }),
  );
}

const words = (text: string): string[] => text.trim().split(/\s+/);

/** MongoDB 7.0's manual, lists under reference/operator/, reference/command/, reference/aggregation-variables. */
const MONGODB: Readonly<Record<string, readonly string[]>> = {
  filter:
    words(`$eq $gt $gte $in $lt $lte $ne $nin $and $not $nor $or $exists $type $expr $jsonSchema $mod $regex $options $text
    $where $geoIntersects $geoWithin $near $nearSphere $all $elemMatch $size $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet
    $comment $sampleRate`),
  update: words(
    `$currentDate $inc $min $max $mul $rename $set $setOnInsert $unset $addToSet $pop $pull $push $pullAll $bit`,
  ),
  $push: words('$each $position $slice $sort'),
  'update stage': words('$addFields $set $project $unset $replaceRoot $replaceWith'),
  stage:
    words(`$addFields $bucket $bucketAuto $changeStream $collStats $count $densify $documents $facet $fill $geoNear $graphLookup
    $group $indexStats $limit $listSessions $lookup $match $merge $out $planCacheStats $project $redact $replaceRoot $replaceWith
    $sample $search $searchMeta $set $setWindowFields $skip $sort $sortByCount $unionWith $unset $unwind $vectorSearch`),
  accumulator:
    words(`$accumulator $addToSet $avg $bottom $bottomN $count $first $firstN $last $lastN $max $maxN $median $mergeObjects
    $min $minN $percentile $push $stdDevPop $stdDevSamp $sum $top $topN`),
  expression:
    words(`$abs $acos $acosh $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $asin $asinh $atan $atan2
    $atanh $avg $binarySize $bitAnd $bitNot $bitOr $bitXor $bsonSize $ceil $cmp $concat $concatArrays $cond $convert $cos $cosh
    $dateAdd $dateDiff $dateFromParts $dateFromString $dateSubtract $dateToParts $dateToString $dateTrunc $dayOfMonth $dayOfWeek
    $dayOfYear $degreesToRadians $divide $eq $exp $filter $first $firstN $floor $function $getField $gt $gte $hour $ifNull $in
    $indexOfArray $indexOfBytes $indexOfCP $isArray $isNumber $isoDayOfWeek $isoWeek $isoWeekYear $last $lastN $let $literal $ln $log
    $log10 $lt $lte $ltrim $map $max $maxN $mergeObjects $meta $millisecond $min $minN $minute $mod $month $multiply $ne $not
    $objectToArray $or $pow $radiansToDegrees $rand $range $reduce $regexFind $regexFindAll $regexMatch $replaceAll $replaceOne
    $reverseArray $round $rtrim $sampleRate $second $setDifference $setEquals $setField $setIntersection $setIsSubset $setUnion $sin
    $sinh $size $slice $sortArray $split $sqrt $strLenBytes $strLenCP $strcasecmp $substr $substrBytes $substrCP $subtract $sum
    $switch $tan $tanh $toBool $toDate $toDecimal $toDouble $toInt $toLong $toLower $toObjectId $toString $toUpper $trim $trunc
    $tsIncrement $tsSecond $type $unsetField $week $year $zip`),
  variable: words('$$NOW $$CLUSTER_TIME $$ROOT $$CURRENT $$REMOVE $$DESCEND $$PRUNE $$KEEP $$SEARCH_META $$USER_ROLES'),
  'index option':
    words(`unique partialFilterExpression sparse expireAfterSeconds hidden storageEngine weights default_language
    language_override textIndexVersion 2dsphereIndexVersion bits min max wildcardProjection collation`),
  command:
    words(`aggregate count distinct mapReduce geoSearch delete find findAndModify getMore insert resetError update bulkWrite
    planCacheClear authenticate logout createUser usersInfo createRole hello isMaster ismaster replSetGetStatus replSetStepDown
    endSessions refreshSessions killSessions startSession commitTransaction abortTransaction cloneCollectionAsCapped collMod compact
    convertToCapped create createIndexes currentOp drop dropDatabase dropIndexes fsync getParameter killCursors killOp
    listCollections listDatabases listIndexes logRotate reIndex renameCollection setParameter shutdown validate buildInfo collStats
    connectionStatus dbStats explain getCmdLineOpts getLog hostInfo listCommands ping profile serverStatus top whatsmyuri
    harkaraBackup`),
};

function using(kind: string, name: string, collection: string): Document {
  const update = (u: unknown): Document => ({ update: collection, updates: [{ q: {}, u }] });
  const aggregate = (...pipeline: Document[]): Document => ({ aggregate: collection, pipeline, cursor: {} });
  switch (kind) {
    case 'filter': {
      const top = /^\$(and|or|nor|expr|jsonSchema|text|where|comment|sampleRate)$/.test(name);
      return { find: collection, filter: top ? { [name]: [{ a: 1 }] } : { a: { [name]: 'x' } } };
    }
    case 'update':
      return update({ [name]: { a: 1 } });
    case '$push':
      return update({ $push: { a: { $each: [1], ...(name === '$each' ? {} : { [name]: 1 }) } } });
    case 'update stage':
      return update([{ [name]: { b: 1 } }]);
    case 'stage':
      return aggregate({ [name]: { a: 1 } }, ...(name === '$group' ? [] : [{ $group: { _id: 1 } }]));
    case 'accumulator':
      return aggregate({ $group: { _id: 1, a: { [name]: 1 } } });
    case 'expression':
      return update([{ $set: { b: { [name]: [1, 1] } } }]);
    case 'variable':
      return update([{ $set: { b: name } }]);
    case 'index option':
      return {
        createIndexes: collection,
        indexes: [
          {
            key: { b: 1 },
            name: 'x',
            [name]: { expireAfterSeconds: 1, partialFilterExpression: { b: 1 } }[name] ?? true,
          },
        ],
      };
    default:
      return name === 'dropIndexes' ? { dropIndexes: collection, index: 'x' } : { [name]: collection };
  }
}

if (EMBEDDED) {
  describe('embedded-db scope (docs/embedded-store-scope.md)', () => {
    const store = use(storeUnderTest);

    it('says of everything who sends it, and that still does', () => {
      const gone = rows().filter(({ file, text }) => !readFileSync(join(ROOT, file), 'utf8').includes(text));

      expect(gone).to.deep.equal([]);
    });

    it('names nothing that MongoDB does not have, and nothing twice', () => {
      for (const [kind, names] of Object.entries(MONGODB)) {
        const listed = rows().filter((row) => row.kind === kind);
        expect(names, kind).to.include.members(listed.map(({ name }) => name));
        expect(new Set(listed.map(({ name }) => name)).size, kind).to.equal(listed.length);
      }
      expect(Object.keys(MONGODB)).to.include.members(rows().map(({ kind }) => kind));
    });

    const OTHER_TYPES = {
      'regular expression': new BSONRegExp('a'),
      code: new Code('1'),
      'code with scope': new Code('1', { a: 1 }),
      symbol: new BSONSymbol('a'),
      timestamp: new Timestamp({ t: 1, i: 1 }),
      Decimal128: Decimal128.fromString('1'),
      MinKey: new MinKey(),
      MaxKey: new MaxKey(),
    };
    for (const [type, value] of Object.entries(OTHER_TYPES)) {
      it(`refuses a ${type}, in a document and in a filter, and goes on`, async () => {
        const all = store.collection();
        expect(await errorOf(all.insertOne({ a: [value] }))).to.include({ code: 238 });
        expect(await errorOf(all.findOne({ a: value }))).to.include({ code: 238 });
        expect(await all.countDocuments()).to.equal(0);
      });
    }

    for (const [kind, names] of Object.entries(MONGODB)) {
      it(`has every ${kind} of the table; all others are refused, change nothing, and say where to go`, async () => {
        const listed = new Set(rows().flatMap((row) => (row.kind === kind ? [row.name] : [])));
        for (const name of names) {
          const all = store.collection();
          await all.insertOne({ _id: 1, a: [5] });

          const answer = await answerTo(store.db, using(kind, name, all.collectionName));

          const refused = answer.code === 238 || answer.code === 59;
          if (listed.has(name)) {
            expect(refused, `${kind} ${name}: ${answer.errmsg}`).to.equal(false);
          } else {
            expect(refused, `${kind} ${name}: ${answer.errmsg ?? 'done'}`).to.equal(true);
            expect(answer.errmsg, name).to.match(/set HARKARA_MONGODB_URI to use MongoDB/);
            expect(await all.find().toArray(), name).to.deep.equal([{ _id: 1, a: [5] }]);
          }
        }
      });
    }
  });
}
