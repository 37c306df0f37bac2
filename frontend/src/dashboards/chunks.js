// The bundles that not every page needs, by the addresses that the server gives them.

/** @type {Map<string, Promise<any>>} */
const loading = new Map();
let failures = 0;

/** @type {Record<string, any>} the modules that are here, by the name of their bundle */
export const loaded = {};

/** @returns {Promise<any>} the module of a bundle; one that could not be loaded is asked for again the next time */
export function load(name) {
  if (!loading.has(name)) {
    const address = document.querySelector(`meta[name="tenantry-file"][data-file="${name}"]`)?.content;
    // A browser keeps the failure of an address, and takes one with another fragment for another.
    const coming = address ? import(failures ? `${address}#${failures}` : address) : Promise.reject(new Error(`the server has no ${name}`));
    coming.then((module) => (loaded[name] = module), () => loading.delete(name) && (failures += 1));
    loading.set(name, coming);
  }
  return loading.get(name);
}
