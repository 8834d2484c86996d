import { isDuplicateKey } from '../../../../shared/platform/mongo/errors.ts';
import { AllPlacesTaken, type Places, takePlace } from '../../../../shared/platform/mongo/places.ts';
import { useStore } from '../../../support/store.ts';

interface Thing {
  readonly owner: string;
  readonly name?: string;
  readonly place: number;
}

describe('mongo/places', () => {
  const store = useStore();

  before(async () => {
    const placed = { unique: true, partialFilterExpression: { place: { $exists: true } } };
    await things().createIndex({ owner: 1, place: 1 }, placed);
    await things().createIndex({ name: 1 }, { unique: true, partialFilterExpression: { name: { $exists: true } } });
  });

  const things = () => store.db.collection<Thing>('things');
  const placesOf = (owner: string, most: number): Places => ({
    db: store.db,
    collection: 'things',
    owner: { owner },
    most,
  });
  const insert =
    (owner: string, more: Pick<Thing, 'name'> = {}) =>
    (place: number) =>
      things().insertOne({ owner, place, ...more });

  it('of a hundred writes at once exactly as many get one as there are', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 100 }, () => takePlace(placesOf('crowd', 50), insert('crowd'))),
    );

    expect(made.filter(({ status }) => status === 'fulfilled')).to.have.length(50);
    for (const one of made) if (one.status === 'rejected') expect(one.reason).to.be.instanceOf(AllPlacesTaken);
    expect(await things().countDocuments({ owner: 'crowd' })).to.equal(50);
  });

  it('the last of a thousand is found; then none is left; each owner has its own', async () => {
    const full = Array.from({ length: 1_000 }, (_, place) => ({ owner: 'full', place }));
    await things().insertMany(full.filter(({ place }) => place !== 617));
    const places = placesOf('full', 1_000);

    await takePlace(places, insert('full'));
    const refused = await takePlace(places, insert('full')).catch((error: unknown) => error);
    await takePlace(placesOf('other', 1_000), insert('other'));

    expect(await things().countDocuments({ owner: 'full', place: 617 })).to.equal(1);
    expect(refused).to.be.instanceOf(AllPlacesTaken).with.property('most', 1_000);
  });

  it('a duplicate key of another index is the caller’s, at once', async () => {
    await takePlace(placesOf('names', 10), insert('names', { name: 'asha' }));
    let writes = 0;

    const refused = await takePlace(placesOf('names', 10), (place) => {
      writes++;
      return insert('names', { name: 'asha' })(place);
    }).catch((error: unknown) => error);

    expect(isDuplicateKey(refused)).to.equal(true);
    expect(writes).to.be.at.most(5);
  });

  it('things that ended by themselves leave their places before anybody is refused', async () => {
    const places = placesOf('ends', 3);
    for (let i = 0; i < 3; i++) await takePlace(places, insert('ends'));
    let releases = 0;
    const release = async () => {
      releases++;
      await things().updateOne({ owner: 'ends' }, { $unset: { place: '' } });
    };

    await takePlace({ ...places, release }, insert('ends'));

    expect(releases).to.equal(1);
    expect(await things().countDocuments({ owner: 'ends', place: { $exists: true } })).to.equal(3);
  });
});
