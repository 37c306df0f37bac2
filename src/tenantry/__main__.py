from tenantry.cli import main

main()
