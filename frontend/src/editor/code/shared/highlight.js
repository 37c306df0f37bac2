export const { highlightTree } = customElements.get("tenantry-code").shared.highlight;
