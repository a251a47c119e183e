"""The declaration of the product: a command, and tests of pytest."""

from longfat.common.products import Command, Product

PRODUCT = Product(
    commands={"packetdrill": Command(module="longfat_packetdrill.command", after="convert")},
    pytest_plugin="longfat_packetdrill.pytest_plugin",
)
