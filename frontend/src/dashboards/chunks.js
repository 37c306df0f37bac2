// The bundles that only some pages need, loaded from the addresses that the server gives.

/** @type {Map<string, Promise<any>>} */
const loading = new Map();
let failures = 0;

/** @type {Record<string, any>} the modules that are loaded, by the name of their bundle */
export const loaded = {};

/** @returns {Promise<any>} the module of a bundle; after a failure, the next call requests it again */
export function load(name) {
  if (!loading.has(name)) {
    const address = document.querySelector(`meta[name="tenantry-file"][data-file="${name}"]`)?.content;
    // A browser remembers that an address failed, but treats the same address with another fragment as a different one.
    const coming = address ? import(failures ? `${address}#${failures}` : address) : Promise.reject(new Error(`the server has no ${name}`));
    coming.then((module) => (loaded[name] = module), () => loading.delete(name) && (failures += 1));
    loading.set(name, coming);
  }
  return loading.get(name);
}
