export const { highlightingFor, language } = customElements.get("tenantry-code").shared.language;
