export const { StyleModule } = customElements.get("tenantry-code").shared.style;
